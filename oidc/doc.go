// Package oidc finds whom tokens stand for. An Issuer makes tokens of its own
// and checks them; a Provider asks an external OpenID provider. Both are
// sluice.Tokens.
//
// The issuer is a small OAuth 2.0 server. What every grant needs (reading the
// form, authenticating the client, scope, writing the answer) is done by the
// token endpoint, so that a grant is one file that can't forget it; how it
// decides on the scope is a field of its own. Access tokens are JWTs signed with
// ES256; refresh tokens are random and stored as hashes.
//
// Where a person lets a program act for them, the pages and the sessions of
// browsers are package portal's, and what is asked and granted is decided here.
//
// Users, passwords and their throttling are behind sluice.Directory, which
// package iam implements; so is reading the Authorization header of commands.
// Package jetstream stores sessions and signing keys.
package oidc
