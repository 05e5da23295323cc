package sluice

// NotPermitted is the error of a caller who lacks a permission.
func NotPermitted(permission string) *Error {
	return Errorf(CodeForbidden, "This needs the permission %s; ask an administrator for a role that has it.",
		permission)
}

// OwnerNotPermitted is the error of a pipeline whose owner lacks a permission.
func OwnerNotPermitted(permission string) *Error {
	return Errorf(CodeForbidden, "The pipeline's owner needs the permission %s.", permission)
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
	return Errorf(CodeForbidden,
		"Your roles have the permission %s, but not for %s; ask an administrator for a role whose scope covers it.",
		permission, Quote(name))
}
