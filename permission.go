package sluice

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

// NotPermitted is the error of a caller who lacks a permission.
func NotPermitted(permission string) *Error {
	return Errorf(CodeForbidden, "This needs the permission %s; ask an administrator for a role that has it.", permission)
}

// OwnerNotPermitted is the error of a pipeline whose owner lacks a permission.
func OwnerNotPermitted(permission string) *Error {
	return Errorf(CodeForbidden, "The pipeline's owner needs the permission %s.", permission)
}
