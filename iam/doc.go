// Package iam finds the user behind a request and their permissions: users,
// roles and clients, the Authorization header, passwords, impersonation, and
// the commands iam.* and audit.get.
//
// That a user may run a command is checked in one place, by package command.
// Tokens are issued and verified by package oidc, which asks the Directory here
// about users and clients; package jetstream stores all of it.
package iam
