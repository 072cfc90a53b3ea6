//! Builds again when a file of the page is added or taken away.

fn main() {
    println!("cargo:rerun-if-changed=web");
}
