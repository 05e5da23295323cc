package command

import (
	"context"
	"reflect"
)

// Removing declares a command that deletes the thing that its first parameter names. It answers
// with that parameter, as remove returns it, and that the thing is deleted.
func Removing[P any](
	name, summary string, remove func(context.Context, P) (removed string, err error), opts ...Option,
) Command {
	key := reflect.TypeFor[P]().Field(0).Tag.Get("json")
	named := reflect.StructTag(`json:"` + key + `" doc:"What was deleted."`)
	answer := reflect.StructOf([]reflect.StructField{
		{Name: "Removed", Type: reflect.TypeFor[string](), Tag: named},
		{Name: "Deleted", Type: reflect.TypeFor[bool](), Tag: `json:"deleted" doc:"It is gone."`},
	})
	c := New(name, summary, func(ctx context.Context, p P) (any, error) {
		removed, err := remove(ctx, p)
		if err != nil {
			return nil, err
		}
		done := reflect.New(answer).Elem()
		done.Field(0).SetString(removed)
		done.Field(1).SetBool(true)
		return done.Interface(), nil
	}, opts...)
	c.Results = []reflect.Type{answer}
	return c
}
