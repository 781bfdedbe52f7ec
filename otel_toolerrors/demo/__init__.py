"""The demo's world: a server that misbehaves as planned, a scripted agent, and simulated time between real sockets."""
