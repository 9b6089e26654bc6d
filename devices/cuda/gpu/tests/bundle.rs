//! The program that carries its kernels, on the stand-in for the driver: no compiler is asked, and what is missing or
//! damaged is said. Its machine code is the stand-in's here, so it carries few kernels.
#![cfg(target_os = "linux")]

use monomorph_testsuite::cuda::fake::StandIn;
use monomorph_testsuite::missing::skip;
use std::path::Path;
use std::process::{Command, Output};

fn run(program: &Path, driver: &Path, args: &[&str]) -> (bool, String) {
    let mut command = Command::new(program);
    command.env("MONOMORPH_CUDA_DRIVER", driver).env("MONOMORPH_NVRTC", "/nowhere/libnvrtc.so.13");
    command.env("MONOMORPH_CUDA_CACHE", "").args(args);
    let Output { status, stdout, stderr } = command.output().expect("a program");
    (status.success(), [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat())
}

#[test]
fn what_it_carries_is_all_that_it_needs() {
    let folder = std::env::temp_dir().join(format!("monomorph-bundle-{}", std::process::id()));
    let Some(driver) = StandIn::build(&folder).expect("a stand-in") else { return skip("g++", "g++ is not found") };
    let plain = Path::new(env!("CARGO_BIN_EXE_monomorph-gpu"));
    let program = folder.join("monomorph-gpu");
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    let (compiler, out, units) = (text(&driver), text(&program), text(&folder.join("units")));
    let pack = ["pack", "--nvrtc", &compiler, "--out", &out, "--folder", &units, "--copies"];
    let (packed, said) = run(plain, &driver, &pack);
    assert!(packed && said.contains("24 kernels"), "{said}");

    let tests = ["tests", "copies_", "contents", "move_between"];
    let (passed, said) = run(&program, &driver, &tests);
    assert!(passed && said.contains("device: stand-in 0, the first of 2"), "{said}");
    assert!(said.contains("test copies_convert_every_dtype ... ok") && said.contains("0 tests failed"), "{said}");
    // Without what it carries, it would have to compile.
    let (passed, said) = run(plain, &driver, &tests);
    assert!(!passed && said.contains("/nowhere/libnvrtc.so.13") && said.contains("FAILED"), "{said}");
    // A kernel that it does not carry is named by the call, and the other tests run.
    let (passed, said) = run(&program, &driver, &["tests", "recorded", "contents"]);
    assert!(!passed && said.contains("1 tests failed") && said.contains("contents_arrive ... ok"), "{said}");

    let (passed, said) = run(&program, Path::new("/nowhere/libcuda.so.1"), &[]);
    assert!(!passed && said.contains("no GPU can be used") && said.contains("install NVIDIA's driver"), "{said}");
    let mut bytes = std::fs::read(&program).expect("the program");
    let last = bytes.len() - 1000;
    bytes[last] ^= 1;
    let damaged = folder.join("damaged");
    std::fs::copy(&program, &damaged).expect("room");
    std::fs::write(&damaged, bytes).expect("room");
    let (passed, said) = run(&damaged, &driver, &tests);
    assert!(!passed && said.contains("is damaged"), "{said}");
    std::fs::remove_dir_all(&folder).expect("the folder");
}
