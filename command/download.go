package command

import (
	"context"
	"io"
)

// A Download is the answer of a command that is bytes rather than JSON, made while
// they are sent. A command that answers so is called over HTTP only.
type Download struct {
	ContentType string

	// Send writes the bytes. An error behind the first of them cuts the
	// connection, so that nobody takes what has arrived for all.
	Send func(ctx context.Context, to io.Writer) error
}

// HTTPOnly reports whether the command can be called over HTTP only: it is no step
// of pipelines, and has no form in the portal.
func (c Command) HTTPOnly() bool { return c.Endpoint != nil || c.Download }
