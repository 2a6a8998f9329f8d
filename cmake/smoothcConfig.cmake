# smoothc in CMake: libraries from programs, made again when a file that they read changes.
#
#   find_package(smoothc REQUIRED)
#   smoothc_add_library(model model.smooth CPP DERIVE gradient:loss)
#   target_link_libraries(app PRIVATE model)          # model.h, and with CPP model.hpp
#   smoothc_install_library(model)                    # library, headers, model.pc for pkg-config
#
# Set smoothc_DIR to the folder of this file, or put it below CMAKE_PREFIX_PATH as lib/cmake/smoothc. The command `smoothc` is
# SMOOTHC_EXECUTABLE, or is looked for beside the package and in PATH.
cmake_minimum_required(VERSION 3.20)

find_program(SMOOTHC_EXECUTABLE smoothc HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin"
  DOC "The compiler smoothc, which `cargo install smoothc` installs")
if(NOT SMOOTHC_EXECUTABLE)
  set(smoothc_FOUND FALSE)
  set(smoothc_NOT_FOUND_MESSAGE "the command smoothc is not there: set SMOOTHC_EXECUTABLE, or install it and add its folder to PATH")
  return()
endif()
if(NOT EXISTS "${SMOOTHC_EXECUTABLE}")
  set(smoothc_FOUND FALSE)
  set(smoothc_NOT_FOUND_MESSAGE "there is no file ${SMOOTHC_EXECUTABLE}: SMOOTHC_EXECUTABLE must be the path of the command smoothc")
  return()
endif()

# libraries are C also in a project of C++ alone
enable_language(C)

include(GNUInstallDirs)

# smoothc_add_library(NAME MODEL
#   [STATIC | SHARED] [CPP] [NATIVE] [PARALLEL] [STRICT_FP] [UNCHECKED]
#   [REAL f64|f32] [SCHEDULE NAME|FILE] [MODE auto|forward|reverse] [PREFIX TEXT]
#   [DERIVE KIND:FUNCTION[:PARAMETER]...] [ENTRY FUNCTION...] [SIZE NAME=INT...] [OPTIONS WORD...])
#
# A library of C, called NAME, from the program MODEL; its header is NAME.h. With CPP there is NAME.hpp too, whose functions are in the
# namespace smoothc::NAME, and names of C begin with NAME_ where no PREFIX is given: of two libraries with a function of one name,
# linkers would take one for both. NATIVE compiles for this machine's processor. The other
# words are the options of `smoothc emit`; OPTIONS passes any of them on.
function(smoothc_add_library name model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "STATIC;SHARED;CPP;NATIVE;PARALLEL;STRICT_FP;UNCHECKED" "REAL;SCHEDULE;MODE;PREFIX"
    "DERIVE;ENTRY;SIZE;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "smoothc_add_library(${name}): unknown words: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(source "${model}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${source}")
    message(FATAL_ERROR "smoothc_add_library(${name}): there is no file ${source}")
  endif()

  if(arg_CPP AND NOT DEFINED arg_PREFIX)
    string(MAKE_C_IDENTIFIER "${name}_" arg_PREFIX)
  endif()
  set(words)
  foreach(option IN ITEMS DERIVE ENTRY SIZE)
    string(TOLOWER "--${option}" word)
    foreach(value IN LISTS arg_${option})
      list(APPEND words "${word}" "${value}")
    endforeach()
  endforeach()
  foreach(option IN ITEMS REAL MODE PREFIX)
    if(DEFINED arg_${option})
      string(TOLOWER "--${option}" word)
      list(APPEND words "${word}" "${arg_${option}}")
    endif()
  endforeach()
  set(schedule)
  if(DEFINED arg_SCHEDULE)
    set(schedule "${arg_SCHEDULE}")
    if(schedule MATCHES "[./\\\\]")
      get_filename_component(schedule "${schedule}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
    list(APPEND words --schedule "${schedule}")
  endif()
  if(arg_PARALLEL)
    list(APPEND words --parallel)
  endif()
  if(arg_STRICT_FP)
    list(APPEND words --strict-fp)
  endif()
  if(arg_UNCHECKED)
    list(APPEND words --unchecked)
  endif()
  list(APPEND words ${arg_OPTIONS})

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.smoothc")
  file(MAKE_DIRECTORY "${folder}")
  set(made "${folder}/${name}.c" "${folder}/${name}.h")
  set(headers "${folder}/${name}.h")
  if(arg_CPP)
    list(APPEND words --cpp)
    list(APPEND made "${folder}/${name}.hpp")
    list(APPEND headers "${folder}/${name}.hpp")
  endif()
  add_custom_command(
    OUTPUT ${made}
    COMMAND "${SMOOTHC_EXECUTABLE}" emit "${source}" -o "${folder}/${name}.c" --depfile "${folder}/${name}.d" ${words}
    DEPENDS "${source}" "${SMOOTHC_EXECUTABLE}"
    DEPFILE "${folder}/${name}.d"
    COMMENT "smoothc ${model}"
    VERBATIM)

  set(type)
  if(arg_SHARED)
    set(type SHARED)
  elseif(arg_STATIC)
    set(type STATIC)
  endif()
  add_library(${name} ${type} "${folder}/${name}.c" ${headers})
  add_library(smoothc::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${folder}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  set_target_properties(${name} PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON WINDOWS_EXPORT_ALL_SYMBOLS ON
    SMOOTHC_HEADERS "${headers}")
  if(arg_CPP)
    target_compile_features(${name} INTERFACE cxx_std_17)
  endif()
  set(libraries)
  if(UNIX)
    target_link_libraries(${name} PUBLIC m)
    set(libraries "-lm")
  endif()
  if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    # what `smoothc build` compiles with; a build without a type is optimised too
    target_compile_options(${name} PRIVATE "$<$<CONFIG:>:-O3>" -fno-math-errno -fno-trapping-math)
    if(arg_STRICT_FP)
      target_compile_options(${name} PRIVATE -ffp-contract=off)
    else()
      target_compile_options(${name} PRIVATE -fopenmp-simd -ffp-contract=fast)
      target_compile_definitions(${name} PRIVATE SMOOTH_SIMD)
    endif()
    if(arg_NATIVE)
      target_compile_options(${name} PRIVATE -march=native)
    endif()
  endif()
  if(arg_PARALLEL)
    find_package(OpenMP REQUIRED COMPONENTS C)
    target_link_libraries(${name} PRIVATE OpenMP::OpenMP_C)
    list(APPEND libraries ${OpenMP_C_FLAGS})
  endif()
  set_target_properties(${name} PROPERTIES SMOOTHC_LIBRARIES "${libraries}" SMOOTHC_PARALLEL "${arg_PARALLEL}")
endfunction()

# smoothc_install_library(NAME)
#
# Installs the library, its headers, NAME.pc for pkg-config, and NAMEConfig.cmake for find_package(NAME), whose target is smoothc::NAME.
function(smoothc_install_library name)
  get_target_property(headers ${name} SMOOTHC_HEADERS)
  get_target_property(libraries ${name} SMOOTHC_LIBRARIES)
  string(REPLACE ";" " " libraries "${libraries}")
  install(TARGETS ${name} EXPORT ${name}Targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT ${name}Targets NAMESPACE smoothc:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/${name}")
  set(needed)
  get_target_property(parallel ${name} SMOOTHC_PARALLEL)
  if(parallel)
    # of a static library the threads are the user's to link
    set(needed "enable_language(C)\ninclude(CMakeFindDependencyMacro)\nfind_dependency(OpenMP COMPONENTS C)\n")
  endif()
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${name}.smoothc/${name}Config.cmake"
"${needed}include(\"\${CMAKE_CURRENT_LIST_DIR}/${name}Targets.cmake\")
")
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.smoothc/${name}Config.cmake" DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/${name}")
  set(version "${PROJECT_VERSION}")
  if(NOT version)
    set(version 0)
  endif()
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(prefix "${CMAKE_INSTALL_PREFIX}")
    set(libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
  else()
    # the prefix is found from the file's own place, so that the folder may be moved
    file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
    set(prefix "\${pcfiledir}/${up}")
    set(libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${name}.smoothc/${name}.pc"
"prefix=${prefix}
libdir=${libdir}
includedir=${includedir}

Name: ${name}
Description: ${name}, from a program of smoothc
Version: ${version}
Libs: -L\${libdir} -l${name} ${libraries}
Cflags: -I\${includedir}
")
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.smoothc/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
