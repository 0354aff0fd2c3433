// SPDX-License-Identifier: Apache-2.0
// Family `panel`, prototype "rows" for skewed matrices: tasks of at most CH non-zeros, longest first; one warp per heavy task (lane groups
// share its non-zeros, shuffles add), one lane group per light row; a row that was split writes partial sums to a workspace and a second
// launch (programmatic dependent) adds them in task order. No atomics, no zeroing; deterministic.
// Packed: tasks int4 {start, end, out, 0} (out >= 0: row of C; out < 0: row ~out of the workspace), pairs int2 {column, value bits} in task order.
#pragma once
template<int n> struct fv{float x[n];};
template<int n>__device__ __forceinline__ fv<n> gl(const float*p){fv<n> r;if constexpr(n==4){float4 t=__ldg((const float4*)p);r.x[0]=t.x;r.x[1]=t.y;r.x[2]=t.z;r.x[3]=t.w;}else if constexpr(n==2){float2 t=__ldg((const float2*)p);r.x[0]=t.x;r.x[1]=t.y;}else r.x[0]=__ldg(p);return r;}
template<int n>__device__ __forceinline__ void gs(float*p,const float*x){if constexpr(n==4)*(float4*)p=make_float4(x[0],x[1],x[2],x[3]);else if constexpr(n==2)*(float2*)p=make_float2(x[0],x[1]);else *p=x[0];}
template<int NT,int V,int U,int WARPS> __global__ void __launch_bounds__(WARPS*32) rows(const int4*__restrict__ tasks,const int2*__restrict__ pairs,const float*__restrict__ B,float*__restrict__ C,float*__restrict__ W,int N,int heavy,int heavyBlocks,int ntasks){
 constexpr int LG=NT/V,G=32/LG;const int lane=threadIdx.x&31,w=threadIdx.x>>5,g=lane/LG,l=lane%LG,col=blockIdx.y*NT+l*V;
 const bool hv=(int)blockIdx.x<heavyBlocks;int t=hv?blockIdx.x*WARPS+w:heavy+((blockIdx.x-heavyBlocks)*WARPS+w)*G+g;
 const int lim=hv?heavy:ntasks;const bool ok=t<lim;int4 d=ok?__ldg(tasks+t):make_int4(0,0,0,0);
 const int step=hv?G:1;float acc[V];
#pragma unroll
 for(int j=0;j<V;j++)acc[j]=0.f;
 for(int i=d.x+(hv?g:0);i<d.y;i+=step*U){int2 p[U];fv<V> b[U];
#pragma unroll
  for(int u=0;u<U;u++){int k=i+u*step;p[u]=__ldg(pairs+min(k,d.y-1));if(k>=d.y)p[u].y=0;}
#pragma unroll
  for(int u=0;u<U;u++)b[u]=gl<V>(B+(size_t)p[u].x*N+col);
#pragma unroll
  for(int u=0;u<U;u++)
#pragma unroll
   for(int j=0;j<V;j++)acc[j]=fmaf(__int_as_float(p[u].y),b[u].x[j],acc[j]);}
 if(hv){
#pragma unroll
  for(int m=LG;m<32;m*=2)
#pragma unroll
   for(int j=0;j<V;j++)acc[j]+=__shfl_xor_sync(~0u,acc[j],m);}
 if(ok&&(!hv||g==0))gs<V>((d.z>=0?C+(size_t)d.z*N:W+(size_t)(~d.z)*N)+col,acc);
}
// one block per split row: adds its partials [first, first+count) in a fixed tree
template<int T> __global__ void gather(const int4*__restrict__ split,const float*__restrict__ W,float*__restrict__ C,int N){
 __shared__ float s[T];
 asm volatile("griddepcontrol.wait;":::"memory");
 int4 d=split[blockIdx.x];int c=blockIdx.y*32+threadIdx.x%32;int cc=min(c,N-1);float a=0;
 for(int i=threadIdx.x/32;i<d.y;i+=T/32)a+=W[(size_t)(d.x+i)*N+cc];
 s[threadIdx.x]=a;__syncthreads();if(threadIdx.x<32&&c<N){for(int k=1;k<T/32;k++)a+=s[k*32+threadIdx.x];C[(size_t)d.z*N+c]=a;}
}
