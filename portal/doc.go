// Package portal is what people see in a browser: pages from the binary itself,
// with everything in them, that work without JavaScript but for what happens
// live.
//
// It has no door of its own: whatever it shows or does is a command, called with
// the permissions of who is signed in, and what comes out is read as the JSON
// that other callers get. Who that is, and where sessions are stored, it is told
// by package serve, which joins it to the other rooms.
package portal
