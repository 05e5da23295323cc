// Package portal serves the pages that people see in a browser. They work without
// JavaScript, except for live updates.
//
// It has no access of its own: whatever it shows or does is a command, called with the
// permissions of the signed-in user. Package serve tells it who may sign in and where
// sessions are stored.
package portal
