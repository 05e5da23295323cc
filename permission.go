package sluice

import (
	"slices"
	"strings"
)

// The permissions that are not the name of a command; the name of each command
// is a permission as well.
const (
	MayRead       = "read"          // run every command that changes nothing
	MaySeeTokens  = "webhook.token" // see the whole token of a webhook, not its end alone
	MaySeePayload = "trace.payload" // see what callers have sent, and the results
	MayUseSecrets = "secret.use"    // own pipelines that use secrets
	MaySeeMetrics = "metrics.get"   // read /metrics
	MayRunAs      = "run.as:"       // followed by a username: own pipelines that switch to that user
)

// ExtraPermissions lists the permissions that are not the name of a command.
func ExtraPermissions() []string {
	return []string{MayRead, MaySeeTokens, MaySeePayload, MayUseSecrets, MaySeeMetrics, MayRunAs}
}

// ReceiveCommand is the command that gets one event. Its name is a permission by itself.
const ReceiveCommand = "event.receive"

// EraseCommand is the command that erases calls. Only * and its own name allow it.
const EraseCommand = "event.erase"

// allows reports whether one of some permissions, which may be patterns, includes a
// permission. A pattern is included in one that reaches as far.
func allows(permissions []string, permission string) bool {
	return slices.ContainsFunc(permissions, func(p string) bool {
		prefix, isPattern := strings.CutSuffix(p, "*")
		return isPattern && strings.HasPrefix(permission, prefix) && (permission != EraseCommand || prefix == "") ||
			p == permission
	})
}

func allowsCall(permissions []string, command string, readOnly bool) bool {
	return allows(permissions, command) || readOnly && allows(permissions, MayRead)
}

// NotPermitted is the error of a caller who lacks a permission.
func NotPermitted(permission string) *Error {
	return CodeForbidden.Errorf("This needs the permission %s; ask an administrator for a role that has it.",
		permission)
}

// OwnerNotPermitted is the error of a pipeline whose owner lacks a permission.
func OwnerNotPermitted(permission string) *Error {
	return CodeForbidden.Errorf("The pipeline's owner needs the permission %s.", permission)
}

// OwnerError returns the error of Owner for a step that needs the owner's rights. It is
// Forbidden instead of Unauthenticated: the caller is known, only the owner is gone.
func OwnerError(err error) error {
	if e := AsError(err); e.Kind == Unauthenticated {
		return &Error{Kind: Forbidden, Code: e.Code, Message: e.Message}
	}
	return err
}

// NotCovered is the error of a caller who would make something outside of their scope.
func NotCovered(permission, name string) *Error {
	return CodeForbidden.Errorf(
		"Your roles have the permission %s, but not for %s; ask an administrator for a role whose scope covers it.",
		permission, Quote(name))
}
