# SPDX-License-Identifier: Apache-2.0
# Kernels for pruned matrices as part of a build.
#
#   esc_add_kernels(TARGET MATRIX file | MODEL file [MIN_SPARSITY share] | MODEL file TENSORS name...
#                   BCOL n... [NAME name] [SCHEDULE schedule | SCHEDULE_FILE file] [DATABASE file]
#                   [LAYOUT kn|nk] [DTYPE type] [EPILOGUE parts | KERNEL file] [SIZE NAME=VALUE...]
#                   [GPU name...] [ARCHITECTURES number...] [OUTPUT folder] [NO_VERIFY] [CHECK])
#
# Of a MODEL one library esc::NAME is made and linked to TARGET, with the kernels of all matrices that have at least MIN_SPARSITY zeros, and what
# opens its packed matrices. For a MATRIX, or each of the TENSORS, and each n it is a library of its own, esc::NAME, or esc::NAME_n<N> where there are
# several n. NAME is by default that of the file or of the tensor, in letters that C allows. The options are those of `escgen generate`.
#
# The bundles are generated again by whatever build comes after a change of the matrix, of escgen, of the schedule's, nest's or database's
# file or of an argument, in OUTPUT (by default below the build tree); that of a model while CMake configures, which such a build does first, as its
# kernels follow from its matrices. With CHECK nothing is generated: OUTPUT has the bundles, under version control say, and the build fails with a
# difference where one is not what escgen makes of its matrix now.
#
# esc::NAME has the property ESC_PACKED: the path of the packed matrix, or of all of a model, which the program opens. CUDA must be a language of
# the project. What CMAKE_CUDA_ARCHITECTURES is set to holds; ARCHITECTURES go before it; where there is neither, 80 and 90.

include_guard(GLOBAL)

# The argument's file as an absolute path, as CMake reads paths: from the folder of the list file.
function(_esc_absolute result file)
  get_filename_component(path "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# What escgen calls a layer by default.
function(_esc_default_name result text)
  string(REGEX REPLACE "\\.weight$" "" name "${text}")
  string(MAKE_C_IDENTIFIER "${name}" name)
  if(name MATCHES "^_[0-9]" AND NOT text MATCHES "^_")
    set(name "layer${name}")
  endif()
  set(${result} "${name}" PARENT_SCOPE)
endfunction()

# The files that a change of makes bundles stale.
function(_esc_inputs result matrix)
  set(files "${matrix}")
  if(matrix MATCHES "\\.index\\.json$")
    get_filename_component(folder "${matrix}" DIRECTORY)
    file(GLOB parts CONFIGURE_DEPENDS "${folder}/*.safetensors")
    list(APPEND files ${parts})
  endif()
  set(${result} "${files}" PARENT_SCOPE)
endfunction()

# The library of one bundle, in `folder`, behind the target that makes or checks it.
function(_esc_add_bundle name folder maker architectures)
  if(TARGET ${name})
    message(FATAL_ERROR "esc_add_kernels: there is a target ${name} already; give another NAME")
  endif()
  add_library(${name} "${folder}/${name}.cu" "${folder}/${name}_transformer.cpp" "${folder}/${name}.h")
  add_library(esc::${name} ALIAS ${name})
  add_dependencies(${name} ${maker})
  target_compile_features(${name} PUBLIC cxx_std_17)
  # Installed, the header is where the project that installs it puts PUBLIC_HEADER, and CUDA is the other project's.
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${folder};${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES}>"
                                            "$<INSTALL_INTERFACE:include>")
  set_target_properties(${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON PUBLIC_HEADER "${folder}/${name}.h" ESC_PACKED "${folder}/${name}.packed")
  if(architectures)
    set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
  endif()
endfunction()

# The library of a model's bundle, which is made now, or with `check` compared by each build. `command` is what escgen is told, `inputs` the files that it
# reads.
function(_esc_add_model target name output architectures check command inputs)
  get_target_property(escgen esc::escgen IMPORTED_LOCATION)
  if(NOT escgen)
    message(FATAL_ERROR "esc_add_kernels: the kernels of a model are made while CMake configures, by an escgen that is installed; name its TENSORS otherwise")
  endif()
  if(check)
    add_custom_target(${name}_esc_bundle ALL COMMAND "${escgen}" ${command} COMMENT "Checking kernels of ${name}" VERBATIM)
  else()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs} "${escgen}")
    message(STATUS "Generating kernels of ${name}")
    execute_process(COMMAND "${escgen}" ${command} OUTPUT_VARIABLE said ERROR_VARIABLE problem RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "esc_add_kernels: ${said}${problem}")
    endif()
  endif()
  if(NOT EXISTS "${output}/${name}/CMakeLists.txt")
    message(FATAL_ERROR "esc_add_kernels: there is no bundle of a model in ${output}/${name}; give a file with one matrix as MATRIX, or make the bundle without CHECK")
  endif()
  add_subdirectory("${output}/${name}" "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/esc_kernels/${name}")
  if(check)
    add_dependencies(${name} ${name}_esc_bundle)
  endif()
  if(architectures)
    set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
  endif()
  target_link_libraries(${target} PRIVATE ${name})
endfunction()

# The architectures of the kernels, empty where CMAKE_CUDA_ARCHITECTURES holds: where it is not empty and not what CMake itself has put
# into the cache, under this help text, because nobody said anything.
function(_esc_architectures result given)
  get_property(help_text CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY HELPSTRING)
  set(architectures "${given}")
  if(NOT given AND ("${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "" OR
     (help_text STREQUAL "CUDA architectures" AND "$ENV{CUDAARCHS}" STREQUAL "" AND
      "${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "$CACHE{CMAKE_CUDA_ARCHITECTURES}")))
    set(architectures 80 90)
  endif()
  set(${result} "${architectures}" PARENT_SCOPE)
endfunction()

function(esc_add_kernels target)
  set(one MATRIX MODEL MIN_SPARSITY NAME SCHEDULE SCHEDULE_FILE DATABASE LAYOUT DTYPE EPILOGUE KERNEL OUTPUT)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "NO_VERIFY;CHECK" "${one}" "TENSORS;BCOL;SIZE;GPU;ARCHITECTURES")
  if(ARG_UNPARSED_ARGUMENTS OR ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "esc_add_kernels: cannot read '${ARG_UNPARSED_ARGUMENTS}${ARG_KEYWORDS_MISSING_VALUES}'; see EscAddKernels.cmake")
  elseif(NOT TARGET ${target})
    message(FATAL_ERROR "esc_add_kernels: there is no target ${target}; add it before its kernels")
  elseif((ARG_MATRIX AND ARG_MODEL) OR NOT (ARG_MATRIX OR ARG_MODEL) OR NOT ARG_BCOL)
    message(FATAL_ERROR "esc_add_kernels(${target}): needs MATRIX or MODEL, and BCOL")
  elseif(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "esc_add_kernels(${target}): CUDA must be a language of the project, as in project(app LANGUAGES CXX CUDA)")
  elseif(ARG_MIN_SPARSITY AND (ARG_MATRIX OR ARG_TENSORS))
    message(FATAL_ERROR "esc_add_kernels(${target}): MIN_SPARSITY chooses matrices of a MODEL without TENSORS")
  elseif(ARG_CHECK AND NOT ARG_OUTPUT)
    message(FATAL_ERROR "esc_add_kernels(${target}): CHECK needs OUTPUT, the folder that has the bundles")
  endif()

  # What all layers have in common: the rest of escgen's command line, and the files that it reads.
  set(options)
  set(files)
  foreach(option SCHEDULE LAYOUT DTYPE EPILOGUE)
    if(ARG_${option})
      string(TOLOWER ${option} word)
      list(APPEND options --${word} "${ARG_${option}}")
    endif()
  endforeach()
  foreach(option SCHEDULE_FILE DATABASE KERNEL)
    if(ARG_${option})
      string(TOLOWER ${option} word)
      string(REPLACE "_" "-" word ${word})
      _esc_absolute(file "${ARG_${option}}")
      list(APPEND options --${word} "${file}")
      list(APPEND files "${file}")
    endif()
  endforeach()
  foreach(size IN LISTS ARG_SIZE)
    list(APPEND options --size "${size}")
  endforeach()
  foreach(gpu IN LISTS ARG_GPU)
    list(APPEND options --gpu "${gpu}")
  endforeach()
  foreach(architecture IN LISTS ARG_ARCHITECTURES)
    string(REGEX MATCH "^[0-9]+" digits "${architecture}")
    if(NOT ARG_GPU)
      list(APPEND options --arch sm_${digits})
    endif()
  endforeach()
  if(ARG_CHECK)
    set(doing Checking)
    list(APPEND options --check)
  else()
    set(doing Generating)
    list(APPEND options --force --quiet)
    if(ARG_NO_VERIFY)
      list(APPEND options --no-verify)
    endif()
  endif()

  if(ARG_MATRIX)
    _esc_absolute(matrix "${ARG_MATRIX}")
    set(layers "${matrix}")
  else()
    _esc_absolute(matrix "${ARG_MODEL}")
    list(TRANSFORM ARG_TENSORS PREPEND "${matrix}:" OUTPUT_VARIABLE layers)
  endif()
  list(LENGTH layers count)
  if(ARG_NAME AND count GREATER 1)
    message(FATAL_ERROR "esc_add_kernels(${target}): NAME names one layer, and ${matrix} has ${count}")
  endif()
  _esc_inputs(inputs "${matrix}")
  if(ARG_OUTPUT)
    _esc_absolute(output "${ARG_OUTPUT}")
  else()
    set(output "${CMAKE_CURRENT_BINARY_DIR}/esc_kernels")
  endif()
  list(JOIN ARG_BCOL "," bcols)
  list(LENGTH ARG_BCOL several)
  _esc_architectures(architectures "${ARG_ARCHITECTURES}")
  if(count EQUAL 0)
    if(NOT ARG_NAME)
      get_filename_component(stem "${matrix}" NAME_WE)
      _esc_default_name(ARG_NAME "${stem}")
    endif()
    if(ARG_MIN_SPARSITY)
      list(APPEND options --min-sparsity ${ARG_MIN_SPARSITY})
    endif()
    _esc_add_model(${target} ${ARG_NAME} "${output}" "${architectures}" "${ARG_CHECK}"
      "generate;${matrix};--bcol;${bcols};--name;${ARG_NAME};-o;${output};${options}" "${inputs};${files}")
    return()
  endif()

  foreach(layer IN LISTS layers)
    if(ARG_NAME)
      set(name "${ARG_NAME}")
    elseif(ARG_MATRIX)
      get_filename_component(stem "${matrix}" NAME_WLE)
      _esc_default_name(name "${stem}")
    else()
      string(LENGTH "${matrix}:" length)
      string(SUBSTRING "${layer}" ${length} -1 tensor)
      _esc_default_name(name "${tensor}")
    endif()
    set(bundles)
    foreach(bcol IN LISTS ARG_BCOL)
      if(several GREATER 1)
        list(APPEND bundles ${name}_n${bcol})
      else()
        list(APPEND bundles ${name})
      endif()
    endforeach()

    set(command generate "${layer}" --bcol ${bcols} --name ${name} -o "${output}" ${options})
    set(work "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/esc_kernels")
    set(stamp "${work}/${name}.stamp")
    # Another argument makes another text of this file, and so the bundle anew.
    file(WRITE "${work}/${name}.arguments.new" "${command}\n")
    configure_file("${work}/${name}.arguments.new" "${work}/${name}.arguments" COPYONLY)
    set(made)
    if(NOT ARG_CHECK)
      foreach(bundle IN LISTS bundles)
        foreach(ending .cu .h _transformer.cpp .packed)
          list(APPEND made "${output}/${bundle}/${bundle}${ending}")
        endforeach()
      endforeach()
      set_source_files_properties(${made} PROPERTIES GENERATED TRUE)
      set(made BYPRODUCTS ${made})
    endif()
    add_custom_command(OUTPUT "${stamp}" ${made}
      COMMAND esc::escgen ${command}
      COMMAND ${CMAKE_COMMAND} -E touch "${stamp}"
      DEPENDS ${inputs} ${files} "${work}/${name}.arguments" $<TARGET_FILE:esc::escgen>
      COMMENT "${doing} kernels of ${name}"
      VERBATIM)
    set(maker ${name}_esc_bundle)
    add_custom_target(${maker} DEPENDS "${stamp}")
    foreach(bundle IN LISTS bundles)
      _esc_add_bundle(${bundle} "${output}/${bundle}" ${maker} "${architectures}")
      target_link_libraries(${target} PRIVATE ${bundle})
    endforeach()
  endforeach()
endfunction()
