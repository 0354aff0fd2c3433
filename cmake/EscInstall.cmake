# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` and `cpack` put where. All paths are relative: an installed tree may be moved as a whole. The programs read nothing of
# the source tree; the nests among the templates are for users, as --kernel takes them.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Libraries that are brought along stand in lib/esc; where LLVM stands in no folder that the system looks into, its path is kept.
set_target_properties(escgen esctune PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/esc;$ORIGIN/../lib/esc"
                                                INSTALL_RPATH_USE_LINK_PATH TRUE)
install(TARGETS escgen esctune RUNTIME COMPONENT programs)
# Measures on a GPU, and needs the libraries of a CUDA toolkit: a package of its own, for machines with one.
set(CPACK_COMPONENTS_ALL programs)
if(TARGET esctune-worker)
  list(APPEND CPACK_COMPONENTS_ALL worker)
  set_target_properties(esctune-worker PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH TRUE)
  install(TARGETS esctune-worker RUNTIME COMPONENT worker)
endif()

# Pages of man(1) and completions, by the programs themselves.
set(pages)
foreach(program escgen esctune)
  foreach(page "man;${program}.1" "completion;bash;${program}.bash" "completion;zsh;_${program}")
    list(POP_BACK page file)
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/pages/${file}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/pages
      COMMAND ${program} ${page} > ${PROJECT_BINARY_DIR}/pages/${file}
      DEPENDS ${program}
      VERBATIM)
    list(APPEND pages ${PROJECT_BINARY_DIR}/pages/${file})
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/pages/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT programs)
  install(FILES ${PROJECT_BINARY_DIR}/pages/${program}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME ${program} COMPONENT programs)
  install(FILES ${PROJECT_BINARY_DIR}/pages/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT programs)
endforeach()
add_custom_target(esc_pages ALL DEPENDS ${pages})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/esc)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/escConfig.cmake.in ${PROJECT_BINARY_DIR}/escConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_BINDIR)
# Before 1.0.0 a minor version may break what projects use.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/escConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/escConfig.cmake ${PROJECT_BINARY_DIR}/escConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/EscAddKernels.cmake
  DESTINATION ${package} COMPONENT programs)

install(FILES ${PROJECT_SOURCE_DIR}/templates/spmm.c ${PROJECT_SOURCE_DIR}/templates/spmm_csr.c ${PROJECT_SOURCE_DIR}/templates/linear_nk.c
              ${PROJECT_SOURCE_DIR}/templates/conv2d.c ${PROJECT_SOURCE_DIR}/templates/conv2d_nhwc.c ${PROJECT_SOURCE_DIR}/templates/conv2d_groups.c
  DESTINATION ${CMAKE_INSTALL_DATADIR}/esc/nests COMPONENT programs)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/SECURITY.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT programs)
# The name under which Debian looks for it.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT programs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT programs
  PATTERN kernel-research EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME esc)
set(CPACK_PACKAGE_VENDOR "The ESC authors")
set(CPACK_PACKAGE_CONTACT "The ESC authors <esc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "CUDA kernels made for pruned weight matrices")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME esc)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Nests may include headers of Clang's and of the C library's, <math.h> say.
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_DEPENDS "libclang-common-${LLVM_VERSION_MAJOR}-dev, libc6-dev")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "cmake (>= 3.18)")
set(CPACK_DEBIAN_WORKER_PACKAGE_NAME esctune-worker)
set(CPACK_DEBIAN_WORKER_PACKAGE_SECTION devel)
set(CPACK_COMPONENT_WORKER_DESCRIPTION "The part of esctune that measures on a GPU; needs the libraries of CUDA ${CUDAToolkit_VERSION_MAJOR}")
# Those need not be packages of Debian's.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CUDAToolkit_LIBRARY_DIR}")
set(CPACK_DEBIAN_WORKER_PACKAGE_DEPENDS "esc (= ${PROJECT_VERSION})")
include(CPack)
