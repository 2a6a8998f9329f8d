//! `pip install .`: a wheel of the command that cargo built, in a place of its own (python/tests/test_wheel.py).

use crate::support::python;

#[test]
fn pip_installs_the_package_with_its_command() {
    python::unit_tests("tests.test_wheel");
}
