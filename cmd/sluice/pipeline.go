package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
)

func pipelineNoun() *noun {
	return &noun{
		name: "pipeline", short: "Store, read, run, check and test pipelines",
		key: "name", word: "name", example: "leads", single: "version", page: "/pipelines",
		get:     "pipeline.get",
		columns: columnsOf("name", "listens", "paused", "owner", "updated", "description"),
		none:    "There are no pipelines; sluice pipeline put FILE stores one.",
		verbs: func(t *terminal, n *noun) []*cobra.Command {
			return append(pipelinePauses(t, n),
				pipelineDelete(t, n), pipelinePut(t), pipelineGet(t), pipelineRun(t), pipelineLint(t), pipelineTest(t), pipelineTry(t),
				pipelineVersions(t), pipelineDiff(t), pipelineRollback(t))
		},
	}
}

// pipelineDelete deletes as other nouns do, and tells how many events that abandons.
func pipelineDelete(t *terminal, n *noun) *cobra.Command {
	deleted := *n
	deleted.remove = "pipeline.delete"
	cmd := nounDelete(t, &deleted)
	remove := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := t.connect()
		if err != nil {
			return err
		}
		waiting, known := waitingFor(cmd.Context(), c, args)
		deleted.effect = "Events don't start it any more."
		switch {
		case !known:
			deleted.effect = "Events don't start it any more, and it abandons those still waiting."
		case waiting > 0:
			deleted.effect = "Events don't start it any more, and it abandons " + counted(waiting, "event") + " still waiting."
		}
		if err := remove(cmd, args); err != nil {
			return err
		}
		if waiting > 0 {
			t.note("Abandoned " + counted(waiting, "event") + " still waiting.")
		}
		return nil
	}
	return cmd
}

// waitingFor returns how many events some pipelines have not finished. Users who
// may delete a pipeline need not be allowed to know.
func waitingFor(ctx context.Context, c *client.Client, names []string) (count int, known bool) {
	answer, err := c.Command(ctx, "server.stats", url.Values{"minutes": {"1"}}, nil)
	var stats struct {
		Pipelines []sluice.PipelineStats `json:"pipelines"`
	}
	if err != nil || json.Unmarshal(answer.Body, &stats) != nil {
		return 0, false
	}
	for _, p := range stats.Pipelines {
		if slices.Contains(names, p.Pipeline) {
			count += int(p.Waiting)
		}
	}
	return count, true
}

func pipelineGet(t *terminal) *cobra.Command {
	var version int
	cmd := &cobra.Command{
		Use:               "get NAME",
		Short:             "Print the source of a stored pipeline; with -o or --json what is known of it",
		Example:           "  sluice pipeline get leads > leads.yaml",
		Args:              arguments(1, 1, "the name of a pipeline"),
		ValidArgsFunction: t.completeNames("pipeline.get", "name", noFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.connect()
			if err != nil {
				return err
			}
			if t.format != "" || t.json {
				params := url.Values{"name": {args[0]}}
				if version != 0 {
					params.Set("version", strconv.Itoa(version))
				}
				return t.callCommand(cmd.Context(), c, "pipeline.get", params, nil)
			}
			source, _, err := c.PipelineSource(cmd.Context(), args[0], version)
			if err != nil {
				return pipelineMissing(cmd.Context(), c, args[0], err)
			}
			if isTerminal(t.out) {
				source = lines(source)
			}
			_, err = t.out.WriteString(source)
			return err
		},
	}
	cmd.Flags().IntVar(&version, "version", 0, "a former version, as sluice pipeline versions lists them (default: the current one)")
	return cmd
}

func pipelineRun(t *terminal) *cobra.Command {
	var vars []string
	var body, contentType string
	cmd := &cobra.Command{
		Use:   "run NAME|FILE",
		Short: "Run a stored pipeline, or the one in a file, and print its final body",
		Long: "Run a stored pipeline, or the one in a file, and print its final body. What ends in .yaml,\n" +
			".yml or .json or has a / in it is a file.",
		Example:           "  sluice pipeline run leads --body lead.json",
		Args:              arguments(1, 1, "the name of a pipeline, or a file with one"),
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
			return t.showData(answer.Body)
		},
	}
	cmd.Flags().StringArrayVar(&vars, "var", nil, "variable of the run as key=value or key=@file; may be repeated")
	cmd.Flags().StringVar(&body, "body", "", "body that the run starts with: JSON text, a file, or - for standard input")
	cmd.Flags().StringVar(&contentType, "content-type", "", "type of the body (default: JSON if it is such, else text)")
	return cmd
}

func (t *terminal) run(ctx context.Context, c *client.Client, name string, vars url.Values, body *client.Body) (client.Answer, error) {
	if !strings.Contains(name, "/") && nameOf(name) == name {
		answer, err := c.RunPipeline(ctx, name, vars, body)
		return answer, pipelineMissing(ctx, c, name, err)
	}
	source, err := t.read(name)
	if err != nil {
		return client.Answer{}, err
	}
	answer, err := c.RunSource(ctx, string(source), vars, body)
	return answer, inFile(name, err)
}

// inFile returns an error about a source with its place in the file, as lint has
// it.
func inFile(file string, err error) error {
	e, ok := errors.AsType[*sluice.Error](err)
	if !ok || e.Place.Line == 0 {
		return err
	}
	message := strings.TrimPrefix(e.Message, fmt.Sprintf("Line %d: ", e.Place.Line))
	message = strings.Replace(message, "; pipeline.lint lists all.", "; sluice pipeline lint "+file+" lists all.", 1)
	return e.Saying(fmt.Sprintf("%s:%d:%d: %s", file, e.Place.Line, max(1, e.Place.Column), message))
}

// pipelineMissing returns an error with what may be meant, if it is that there is
// no such pipeline. Other things may be missing as well.
func pipelineMissing(ctx context.Context, c *client.Client, name string, err error) error {
	if err == nil || !sluice.CodePipelineUnknown.Is(err) {
		return err
	}
	return nounNamed("pipeline").missing(ctx, c, name, err)
}

// endings are those of files with pipelines.
var endings = []string{".yaml", ".yml", ".json"}

// nameOf returns the name of the pipeline in a file.
func nameOf(file string) string {
	base := filepath.Base(file)
	for _, ending := range endings {
		if name, ok := strings.CutSuffix(base, ending); ok {
			return name
		}
	}
	return base
}

// filesIn returns the files with pipelines that arguments name: themselves, or
// all in a folder.
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
