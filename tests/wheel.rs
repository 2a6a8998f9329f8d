//! `pip install .`: a wheel of the command that cargo built, in a place of its own (python/tests/test_wheel.py). Alone in a binary,
//! since what builds the wheel puts the command anew where it was.

#[allow(dead_code)]
mod support {
    pub mod python;
    pub mod tools;
}

#[test]
fn pip_installs_the_package_with_its_command() {
    support::python::unit_tests("tests.test_wheel");
}
