//! Both handshake machines and the connection file.
#![no_std]
#![no_main]

use no_panic::{halt, input, output, program};
use twolane_core::connection_file::ConnectionFile;
use twolane_core::handshake::{ClientHandshake, DaemonId, Key, ServerHandshake};

program!(|bytes| {
    let mut second = [0; 512];
    let Ok(key) = Key::new(input(&mut second)) else { halt() };
    let mut client = ClientHandshake::new(&key, DaemonId([1; 16]), [2; 32]);
    output(&*client.hello());
    output(client.receive(bytes).is_ok());
    output(client.receive(bytes).is_ok());
    output(client.daemon_ver());
    if let Ok(mut server) = ServerHandshake::new(&key, DaemonId([1; 16]), [3; 32], "0.1.0") {
        output(server.receive(bytes).is_ok());
        output(server.receive(bytes).is_ok());
        output(server.role());
    }
    if let Ok(file) = ConnectionFile::parse(bytes) {
        output(file.pid());
    }
    output(Key::from_text(bytes).is_ok());
});
