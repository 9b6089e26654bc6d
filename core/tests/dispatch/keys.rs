//! Keys, sets, and what a thread includes and excludes.

use monomorph_core::DeviceKind;
use monomorph_core::dispatch::{Backend, DispatchKey, Functionality, KeyGuard, KeySet, RegistrationKey};
use std::collections::HashSet;

#[test]
fn every_key_has_its_own_name_and_is_found_by_it() {
    let names: HashSet<String> = RegistrationKey::all().map(|key| key.to_string()).collect();
    assert_eq!(names.len(), RegistrationKey::all().count());
    for key in RegistrationKey::all() {
        assert_eq!(RegistrationKey::from_name(&key.to_string()), Some(key));
    }
    assert_eq!(RegistrationKey::from_name("cpu"), None);
}

#[test]
fn keys_are_backend_times_functionality() {
    for backend in Backend::all() {
        assert_eq!(Backend::of(backend.kind()), Some(backend));
        for (key, functionality) in [
            (DispatchKey::dense(backend), Functionality::Dense),
            (DispatchKey::common(backend), Functionality::Common),
            (DispatchKey::autograd(backend), Functionality::Autograd),
        ] {
            assert_eq!((key.backend(), key.functionality()), (Some(backend), Some(functionality)));
        }
    }
    assert_eq!((DispatchKey::TRACER.backend(), DispatchKey::UNDEFINED.functionality()), (None, None));
    assert_eq!(DispatchKey::all().collect::<HashSet<_>>().len(), DispatchKey::COUNT);
}

#[test]
fn kinds_without_a_place_have_no_key() {
    for kind in [3, 15, 21, 200, 255] {
        assert_eq!(Backend::of(DeviceKind(kind)), None, "{kind}");
        assert!(KeySet::of_device(DeviceKind(kind)).is_empty());
    }
    assert!((16..21).all(|kind| Backend::of(DeviceKind(kind)).is_some_and(Backend::is_private)));
    assert!(![Backend::CPU, Backend::CUDA, Backend::META].into_iter().any(Backend::is_private));
}

#[test]
fn the_highest_key_wins_by_functionality_and_then_by_backend() {
    let cpu = KeySet::of(DispatchKey::CPU);
    let order = [
        DispatchKey::CUDA,
        DispatchKey::dense(Backend::private(0).unwrap()),
        DispatchKey::META,
        DispatchKey::common(Backend::CPU),
        DispatchKey::autograd(Backend::CPU),
        DispatchKey::TRACER,
    ];
    let mut set = cpu;
    assert_eq!(set.highest(), DispatchKey::CPU);
    for key in order {
        set = set | KeySet::of(key);
        assert_eq!(set.highest(), key);
        assert!(!set.below(key).contains(key) && set.below(key).contains(DispatchKey::CPU));
    }
    assert_eq!(set.iter().count(), order.len() + 1);
    assert_eq!(KeySet::EMPTY.highest(), DispatchKey::UNDEFINED);
    assert!(KeySet::of(DispatchKey::UNDEFINED).is_empty());
    assert_eq!(KeySet::ALL, DispatchKey::all().collect(), "which the undefined key is no member of");
    assert_eq!((set - cpu) & cpu, KeySet::EMPTY);
}

#[test]
fn guards_take_back_what_they_added_in_any_order() {
    use super::{call, constant, define};
    let mut library = monomorph_core::dispatch::Dispatcher::new().library("t");
    define(&mut library, "f(Tensor x) -> Tensor");
    library.kernel("t::f", DispatchKey::CPU, constant::<1>()).unwrap();
    library.kernel("t::f", DispatchKey::TRACER, constant::<2>()).unwrap();
    let value = || call(&library, "t::f").unwrap()[0];
    assert_eq!(value(), 1);
    let outer = KeyGuard::include(DispatchKey::TRACER);
    assert_eq!(value(), 2);
    let same = KeyGuard::include(DispatchKey::TRACER);
    let excluded = KeyGuard::exclude(DispatchKey::TRACER);
    assert_eq!(value(), 1, "excluding wins");
    {
        let _inner = KeyGuard::include(DispatchKey::TRACER);
        assert_eq!(value(), 1, "also over what is included later");
    }
    drop(same);
    drop(excluded);
    assert_eq!(value(), 2, "the outer guard is still there");
    std::thread::scope(|s| {
        s.spawn(|| assert_eq!(value(), 1, "another thread has its own"));
    });
    drop(outer);
    assert_eq!(value(), 1);
}
