// SPDX-License-Identifier: Apache-2.0
// Family `panel`, prototype "tile": C[M x N] = A x B, exact float32, no atomics, one launch, one wait.
//
// SB=2: B chunk staged through registers (LDG + STS) instead of cp.async.
// A block owns R = WR*RG*UF rows and NT columns of C. The K dimension is cut into WK slices, one per warp (or per WR warps);
// a slice is walked in NCH chunks of KC rows of B. Lanes of a warp form G = 32/LG groups of LG = NT/V lanes; a group owns UF rows
// (RG different panels per warp) and one of KG shares of the panel's enumerated columns of the chunk.
// SB: B chunk is staged in shared memory with A, in the same wait (1), or gathered from L2 (0).   SA: packed A staged (1) or read directly (0).
//
// Packed region of (row block, wr, wk, chunk), `stride` bytes apart: int steps (multiple of 4*QU), 12 bytes pad, then per quad of steps:
//   [G] x 4 x u16   SB=1: byte offset of B row inside the chunk (k - k0)*NT*4 ; SB=0: k (padding repeats a column with value 0)
//   [UF][G] x 4 x f32   flat index f = step*UF + row -> [f/4][g][f%4]
#ifndef MINB
#define MINB 1
#endif
#define LG (NT/V)
#define G (32/LG)
#define RG (G/KG)
#define R (WR*RG*UF)
#define NWARP (WK*WR)
#define VW (V<4?V:4)                       // floats per load; V=8 is two float4 NT/2 columns apart
#define COL(j) ((j)%VW+((j)/VW)*(NT/2))   // column of a lane's j-th sum, relative to l*VW
#define OB (G*8<16?16:G*8)
#define QUAD (OB+G*16*UF)
typedef unsigned u32; typedef unsigned short u16; typedef unsigned long long u64;
__device__ __forceinline__ u32 sm(const void*p){return (u32)__cvta_generic_to_shared(p);}
__device__ __forceinline__ void cpa(u32 d,const void*s){asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"::"r"(d),"l"(s));}
__device__ __forceinline__ void commit(){asm volatile("cp.async.commit_group;");}
template<int n>__device__ __forceinline__ void waitg(){asm volatile("cp.async.wait_group %0;"::"n"(n));}
__device__ __forceinline__ void slice_sync(int wk){
#if WR==1
 __syncwarp();
#else
 asm volatile("bar.sync %0, %1;"::"r"(wk+1),"n"(WR*32):"memory");
#endif
}
template<int n> struct vec{float x[n];};
template<int n>__device__ __forceinline__ vec<n> ldv(const float*p){vec<n> r;
 if constexpr(n==8){vec<4> a=ldv<4>(p),b=ldv<4>(p+NT/2);
#pragma unroll
  for(int i=0;i<4;i++){r.x[i]=a.x[i];r.x[i+4]=b.x[i];}}
 else if constexpr(n==4){float4 t=*(const float4*)p;r.x[0]=t.x;r.x[1]=t.y;r.x[2]=t.z;r.x[3]=t.w;}
 else if constexpr(n==2){float2 t=*(const float2*)p;r.x[0]=t.x;r.x[1]=t.y;}
 else r.x[0]=*p; return r;}
template<int n>__device__ __forceinline__ vec<n> ldg(const float*p){vec<n> r;
 if constexpr(n==8){vec<4> a=ldg<4>(p),b=ldg<4>(p+NT/2);
#pragma unroll
  for(int i=0;i<4;i++){r.x[i]=a.x[i];r.x[i+4]=b.x[i];}}
 else if constexpr(n==4){float4 t=__ldg((const float4*)p);r.x[0]=t.x;r.x[1]=t.y;r.x[2]=t.z;r.x[3]=t.w;}
 else if constexpr(n==2){float2 t=__ldg((const float2*)p);r.x[0]=t.x;r.x[1]=t.y;}
 else r.x[0]=__ldg(p); return r;}
// one quad of steps: the offsets and values are in registers
__device__ __forceinline__ void quad(float (&acc)[UF*V],uint2 o,const float4 (&a)[UF],const char*b,int rowbytes){
 u32 off[4]={o.x&0xffffu,o.x>>16,o.y&0xffffu,o.y>>16};
 vec<V> x[4];
#pragma unroll
 for(int s=0;s<4;s++){
#if SB
  x[s]=ldv<V>((const float*)(b+off[s]));
#else
  x[s]=ldg<V>((const float*)(b+(u64)off[s]*(u32)rowbytes));
#endif
 }
#pragma unroll
 for(int s=0;s<4;s++)
#pragma unroll
  for(int u=0;u<UF;u++){const int f=s*UF+u;const float4 t=a[f/4];const float av=f%4==0?t.x:f%4==1?t.y:f%4==2?t.z:t.w;
#pragma unroll
   for(int j=0;j<V;j++)acc[u*V+j]=fmaf(av,x[s].x[j],acc[u*V+j]);}
}
// sum over lane groups: m = group distance, n = live sums; halves the live sums each step (reduce-scatter), then butterflies
template<int m,int n,int F>__device__ __forceinline__ void reduce_scatter(float (&acc)[F],int kg,int&first){
 if constexpr(m>0){const bool up=kg&m;
  if constexpr(n>1){constexpr int h=n/2;
#pragma unroll
   for(int i=0;i<h;i++){float snd=up?acc[i]:acc[i+h],kp=up?acc[i+h]:acc[i];acc[i]=kp+__shfl_xor_sync(~0u,snd,m*LG);}
   first+=up?h:0;reduce_scatter<m/2,h,F>(acc,kg,first);
  }else{acc[0]+=__shfl_xor_sync(~0u,acc[0],m*LG);reduce_scatter<m/2,1,F>(acc,kg,first);}}}
extern "C" __global__ void __launch_bounds__(NWARP*32,MINB) spmm(const char*__restrict__ A,const float*__restrict__ B,float*__restrict__ C,
  int M,int N,int K,int KC,int NCH,int stride){
 extern __shared__ __align__(128) char smem[];
 const int lane=threadIdx.x&31,w=threadIdx.x>>5,wr=w%WR,wk=w/WR,g=lane/LG,l=lane%LG;
 const int col0=blockIdx.y*NT;
 const char*reg=A+(size_t)((blockIdx.x*WR+wr)*WK+wk)*NCH*stride;
 float acc[UF*V];
#pragma unroll
 for(int i=0;i<UF*V;i++)acc[i]=0.f;
#if PDL
 asm volatile("griddepcontrol.launch_dependents;");
#endif
size_t pofs=0;
#if SA
 const int bbytes=SB?(KC*NT*4+127)/128*128:0, stg=bbytes+WR*stride;pofs=(size_t)WK*ST*stg;
 char*base=smem+(size_t)wk*ST*stg;
 auto stageA=[&](int c){char*d=base+(c%ST)*stg;
  for(int i=lane*16;i<stride;i+=512)cpa(sm(d+bbytes+wr*stride+i),reg+(size_t)c*stride+i);};
 auto stageB=[&](int c){char*d=base+(c%ST)*stg;
#if SB
  const int k0=(wk*NCH+c)*KC,kn=min(KC,K-k0);
  constexpr int per=NT/4; // 16-byte pieces per row
  const float*s=B+(size_t)k0*N+col0;
#if SB==2   // through registers: 8 loads of 16 bytes in flight per lane
  for(int i0=wr*32+lane;i0<kn*per;i0+=8*WR*32){float4 t[8];
#pragma unroll
   for(int u=0;u<8;u++){int i=i0+u*WR*32,r=i/per,q=i%per;if(i<kn*per)t[u]=__ldg((const float4*)(s+(size_t)r*N+q*4));}
#pragma unroll
   for(int u=0;u<8;u++){int i=i0+u*WR*32;if(i<kn*per)*(float4*)(d+i*16)=t[u];}}
#else
  for(int i=wr*32+lane;i<kn*per;i+=WR*32){int r=i/per,q=i%per;cpa(sm(d+i*16),s+(size_t)r*N+q*4);}
#endif
#endif
 };
#pragma unroll
 for(int c=0;c<ST;c++){if(c<NCH)stageA(c);
#if PDL
  if(c==0)asm volatile("griddepcontrol.wait;":::"memory");
#endif
  if(c<NCH)stageB(c);commit();}
 for(int c=0;c<NCH;c++){
  waitg<ST-1>();slice_sync(wk);
  const char*d=base+(c%ST)*stg;const char*a=d+bbytes+wr*stride;
  const int nq=*(const int*)a>>2;
  const char*po=a+16+g*8;const char*pv=a+16+OB+g*16;
#if SB
  const char*b=d+l*VW*4;
#else
  const char*b=(const char*)(B+col0+l*VW);
#endif
  for(int q0=0;q0<nq;q0+=QU){
#pragma unroll
   for(int q=0;q<QU;q++){uint2 o=*(const uint2*)(po+q*QUAD);float4 av[UF];
#pragma unroll
    for(int i=0;i<UF;i++)av[i]=*(const float4*)(pv+q*QUAD+i*G*16);
    quad(acc,o,av,b,N*4);}
   po+=QU*QUAD;pv+=QU*QUAD;}
  if(c+ST<NCH||ST>1){slice_sync(wk);if(c+ST<NCH){stageA(c+ST);stageB(c+ST);}commit();}
 }
#else
 // packed A straight from global memory, QU quads at a time, next ones prefetched
 {
 const char*po=reg+16+g*8;const char*pv=reg+16+OB+g*16;
 const int nq=__ldg((const int*)reg)>>2;
 uint2 o[QU];float4 av[QU][UF];
#pragma unroll
 for(int q=0;q<QU;q++){o[q]=__ldg((const uint2*)(po+q*QUAD));
#pragma unroll
  for(int i=0;i<UF;i++)av[q][i]=__ldg((const float4*)(pv+q*QUAD+i*G*16));}
 const char*b=(const char*)(B+col0+l*VW);
#if PDL
  asm volatile("griddepcontrol.wait;":::"memory");
#endif
 for(int q0=0;;){
  uint2 o2[QU];float4 a2[QU][UF];const bool more=q0+QU<nq;
  if(more){po+=QU*QUAD;pv+=QU*QUAD;
#pragma unroll
  for(int q=0;q<QU;q++){o2[q]=__ldg((const uint2*)(po+q*QUAD));
#pragma unroll
   for(int i=0;i<UF;i++)a2[q][i]=__ldg((const float4*)(pv+q*QUAD+i*G*16));}}
#pragma unroll
  for(int q=0;q<QU;q++)quad(acc,o[q],av[q],b,N*4);
  if(!more)break; q0+=QU;
#pragma unroll
  for(int q=0;q<QU;q++){o[q]=o2[q];
#pragma unroll
   for(int i=0;i<UF;i++)av[q][i]=a2[q][i];}
 }}
#endif
 // sum over the KG groups of a panel: reduce-scatter by halving, then butterfly
 constexpr int F=UF*V;int first=0;
 const int rg=g/KG,kg=g%KG;
 reduce_scatter<KG/2,F,UF*V>(acc,kg,first);
 constexpr int H=F/KG>0?F/KG:1;         // sums this lane now holds: flat first .. first+H-1 of [UF][V]
 constexpr int DUP=KG>F?KG/F:1;         // lanes that hold the same sum
 const int row_l=(wr*RG+rg)*UF; const int row0=blockIdx.x*R;
#if WK==1
 if(kg%DUP==0){
  constexpr int W=H<VW?H:VW;
#pragma unroll
  for(int i=0;i<H;i+=W){int f=first+i,u=f/V,j=f%V;int r=row0+row_l+u;
   if(r<M){float*p=C+(size_t)r*N+col0+l*VW+COL(j);
    if constexpr(W==4)*(float4*)p=make_float4(acc[i],acc[i+1],acc[i+2],acc[i+3]);
    else if constexpr(W==2)*(float2*)p=make_float2(acc[i],acc[i+1]);
    else *p=acc[i];}}}
#else
 float*part=(float*)(smem+pofs);
 if(kg%DUP==0){
  constexpr int W=H<VW?H:VW;
#pragma unroll
  for(int i=0;i<H;i+=W){int f=first+i,u=f/V,j=f%V;float*p=part+((size_t)wk*R+row_l+u)*NT+l*VW+COL(j);
    if constexpr(W==4)*(float4*)p=make_float4(acc[i],acc[i+1],acc[i+2],acc[i+3]);
    else if constexpr(W==2)*(float2*)p=make_float2(acc[i],acc[i+1]);
    else *p=acc[i];}}
 __syncthreads();
 constexpr int OUT=R*NT;
 if constexpr(OUT>=NWARP*32*4&&NT%4==0){
#pragma unroll
  for(int o=threadIdx.x*4;o<OUT;o+=NWARP*128){float4 s=*(float4*)(part+o);
#pragma unroll
   for(int k=1;k<WK;k++){float4 t=*(float4*)(part+(size_t)k*OUT+o);s.x+=t.x;s.y+=t.y;s.z+=t.z;s.w+=t.w;}
   int r=row0+o/NT;if(r<M)*(float4*)(C+(size_t)r*N+col0+o%NT)=s;}
 }else{
#pragma unroll
  for(int o=threadIdx.x;o<OUT;o+=NWARP*32){float s=part[o];
#pragma unroll
   for(int k=1;k<WK;k++)s+=part[(size_t)k*OUT+o];
   int r=row0+o/NT;if(r<M)C[(size_t)r*N+col0+o%NT]=s;}
 }
#endif
}
