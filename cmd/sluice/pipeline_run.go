package main

import (
	"context"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/terminal"
	"sluice/manifest"
)

func pipelineRun(r *resource) *cobra.Command {
	var vars []string
	var body, contentType string
	cmd := &cobra.Command{
		Use:   "run NAME|FILE",
		Short: "Run a stored pipeline, or the one in a file, and print its final body",
		Long: `Run a stored pipeline, or the one in a file, and print its final body. What ends in .yaml, .yml or
			.json or has a / in it is a file.`,
		Example:           "  sluice pipeline run leads --body lead.json",
		Args:              terminal.Needs("the name of a pipeline, or a file with one"),
		ValidArgsFunction: r.CompleteNames("pipeline.get", "name", cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, err := r.Pairs(vars)
			if err != nil {
				return err
			}
			carried, err := r.carried(cmd, body, contentType)
			if err != nil {
				return err
			}
			if err := r.Connect(); err != nil {
				return err
			}
			answer, err := r.runPipeline(cmd.Context(), args[0], values, carried)
			if err != nil {
				return err
			}
			return r.ShowData(answer.Body)
		},
	}
	cmd.Flags().StringArrayVar(&vars, "var", nil, "variable of the run as key=value or key=@file; may be repeated")
	cmd.Flags().StringVar(&body, "body", "",
		"body that the run starts with: JSON text, a file, or - for standard input")
	cmd.Flags().StringVar(&contentType, "content-type", "", "type of the body (default: JSON if it is such, else text)")
	return cmd
}

func (r *resource) runPipeline(
	ctx context.Context, name string, vars url.Values, body *client.Body,
) (client.Answer, error) {
	if !strings.Contains(name, "/") && manifest.NameOf(name) == name {
		answer, err := r.Server.RunPipeline(ctx, name, vars, body)
		return answer, r.missingPipeline(ctx, name, err)
	}
	source, err := r.Read(name)
	if err != nil {
		return client.Answer{}, err
	}
	answer, err := r.Server.RunSource(ctx, string(source), vars, body)
	return answer, inFile(name, err)
}

// missingPipeline adds the name that was probably meant to the error for an unknown
// pipeline. NotFound errors can be about other things as well.
func (r *resource) missingPipeline(ctx context.Context, name string, err error) error {
	if !sluice.CodePipelineUnknown.Is(err) {
		return err
	}
	return r.missing(ctx, name, err)
}
