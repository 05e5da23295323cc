package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sluice/client"
)

func pipelineCommand(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pipeline",
		Short: "Store, read, run, check and test pipelines",
	}
	cmd.AddCommand(pipelinePut(t), pipelineGet(t), pipelineList(t), pipelineDelete(t), pipelineRun(t), pipelineLint(t), pipelineTest(t))
	return cmd
}

func pipelineGet(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:               "get NAME",
		Short:             "Print the source of a stored pipeline; with -o what is known of it",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: t.completeNames("pipeline.get", "name", noFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.connect()
			if err != nil {
				return err
			}
			if t.format != "" {
				return t.callCommand(cmd.Context(), c, "pipeline.get", url.Values{"name": {args[0]}}, nil)
			}
			source, err := c.PipelineSource(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if isTerminal(t.out) {
				source = lines(source)
			}
			_, err = t.out.WriteString(source)
			return err
		},
	}
}

func pipelineList(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the stored pipelines",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := t.connect()
			if err != nil {
				return err
			}
			answer, err := c.Command(cmd.Context(), "pipeline.get", nil, nil)
			if err != nil {
				return err
			}
			return t.show(answer.Body, "name", "listens", "owner", "updated", "description")
		},
	}
}

func pipelineDelete(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:               "delete NAME...",
		Short:             "Delete stored pipelines",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: t.completeNames("pipeline.get", "name", noFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.connect()
			if err != nil {
				return err
			}
			return t.forEach(args, func(name string) (client.Answer, error) {
				return c.Command(cmd.Context(), "pipeline.delete", url.Values{"name": {name}}, nil)
			})
		},
	}
}

func pipelineRun(t *terminal) *cobra.Command {
	var vars []string
	var body, contentType string
	cmd := &cobra.Command{
		Use:   "run NAME|FILE",
		Short: "Run a stored pipeline, or the one in a file, and print its final body",
		Long: "Run a stored pipeline, or the one in a file, and print its final body. What ends in .yaml,\n" +
			".yml or .json or has a / in it is a file.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: t.completeNames("pipeline.get", "name", cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, err := t.pairs(vars)
			if err != nil {
				return err
			}
			carried, err := t.carried(cmd, body, contentType)
			if err != nil {
				return err
			}
			c, err := t.connect()
			if err != nil {
				return err
			}
			answer, err := t.run(cmd.Context(), c, args[0], values, carried)
			if err != nil {
				return err
			}
			return t.show(answer.Body)
		},
	}
	cmd.Flags().StringArrayVar(&vars, "var", nil, "variable of the run as key=value or key=@file; may be repeated")
	cmd.Flags().StringVar(&body, "body", "", "file with the body that the run starts with; - is standard input")
	cmd.Flags().StringVar(&contentType, "content-type", "", "type of the body (default: JSON if it is such, else text)")
	return cmd
}

func (t *terminal) run(ctx context.Context, c *client.Client, name string, vars url.Values, body *client.Body) (client.Answer, error) {
	if !strings.Contains(name, "/") && nameOf(name) == name {
		return c.RunPipeline(ctx, name, vars, body)
	}
	source, err := t.read(name)
	if err != nil {
		return client.Answer{}, err
	}
	return c.RunSource(ctx, string(source), vars, body)
}

// endings are those of files with pipelines.
var endings = []string{".yaml", ".yml", ".json"}

// nameOf gives the name of the pipeline in a file.
func nameOf(file string) string {
	base := filepath.Base(file)
	for _, ending := range endings {
		if name, ok := strings.CutSuffix(base, ending); ok {
			return name
		}
	}
	return base
}

// filesIn gives the files with pipelines that arguments name: themselves, or all
// in a folder.
func filesIn(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, usage("%v", err)
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, usage("%v", err)
		}
		found := len(files)
		for _, entry := range entries {
			if !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && nameOf(entry.Name()) != entry.Name() {
				files = append(files, filepath.Join(arg, entry.Name()))
			}
		}
		if len(files) == found {
			return nil, usage("The folder %s has no files that end in .yaml, .yml or .json.", arg)
		}
	}
	return files, nil
}
