package oidc

import (
	"context"
	"sluice"
)

// listed is a store whose records can only be listed.
type listed[T any] struct{ records []*T }

func (*listed[T]) Get(context.Context, string) (*T, error) { return nil, nil }

func (l *listed[T]) All() []*T { return append([]*T(nil), l.records...) }

func (*listed[T]) Change(context.Context, string, func(*T, map[string]*T) (*T, error)) (*T, error) {
	return nil, sluice.ErrUnchanged
}
