// Package iam says who is calling: it turns the Authorization header of a
// request into a user. What a user may run is checked in one place, by package
// command.
package iam
