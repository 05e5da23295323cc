// Package oidc finds whom tokens stand for. An Issuer makes tokens of its own
// and checks them; a Provider asks an external OpenID provider. Both are
// sluice.Tokens.
//
// The issuer is a small OAuth 2.0 server. The token endpoint does what every grant needs
// (reading the form, authenticating the client, deciding the scope, writing the answer),
// so that no grant can forget it. Access tokens are JWTs signed with ES256; refresh tokens
// are random and stored as hashes.
//
// When a person lets a program act for them, package portal has the pages and the
// sessions of browsers; this package decides what is asked and granted.
//
// Users, passwords and their throttling are behind sluice.Directory, which
// package iam implements; so is reading the Authorization header of commands.
// Package jetstream stores sessions and signing keys.
package oidc
