//! The examples do not only compile.

#[path = "../examples/on_write.rs"]
mod on_write;
#[path = "../examples/pick_one.rs"]
mod pick_one;
#[path = "../examples/toolbox.rs"]
mod toolbox;

#[test]
fn pick_one_runs() {
    pick_one::main().unwrap();
}

#[test]
fn toolbox_runs() {
    toolbox::main().unwrap();
}

#[test]
fn on_write_runs() {
    on_write::main().unwrap();
}
