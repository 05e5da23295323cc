package main

import (
	"context"
	"net/url"
	"strings"

	"sluice"
	"sluice/client"
	"sluice/manifest"
)

func (t *cli) pipelineRun(ctx context.Context) error {
	vars, err := t.Pairs(t.Texts("var"))
	if err != nil {
		return err
	}
	body, err := t.carried()
	if err != nil {
		return err
	}
	answer, err := t.runPipeline(ctx, t.Args[0], vars, body)
	if err != nil {
		return err
	}
	return t.ShowData(answer.Body)
}

func (t *cli) runPipeline(
	ctx context.Context, name string, vars url.Values, body *client.Body,
) (client.Answer, error) {
	if !strings.Contains(name, "/") && manifest.NameOf(name) == name {
		answer, err := t.Server.RunPipeline(ctx, name, vars, body)
		return answer, t.missingPipeline(ctx, name, err)
	}
	source, err := t.Read(name)
	if err != nil {
		return client.Answer{}, err
	}
	answer, err := t.Server.RunSource(ctx, string(source), vars, body)
	return answer, inFile(name, err)
}

// missingPipeline adds the name that was probably meant to the error for an unknown
// pipeline. NotFound errors can be about other things as well.
func (t *cli) missingPipeline(ctx context.Context, name string, err error) error {
	if !sluice.CodePipelineUnknown.Is(err) {
		return err
	}
	return t.missing(ctx, name, err)
}
