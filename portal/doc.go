// Package portal is what people see in a browser: pages served from the binary
// itself, which work without JavaScript except for live updates.
//
// It has no access of its own: whatever it shows or does is a command, called
// with the permissions of the signed-in user, and the answer is read as the
// JSON that other callers get. Package serve tells it who may sign in and where
// sessions are stored.
package portal
