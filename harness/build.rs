//! Rebuilds when a built-in profile or baseline changes: they are compiled in.

fn main() {
    println!("cargo::rerun-if-changed=../agents");
}
