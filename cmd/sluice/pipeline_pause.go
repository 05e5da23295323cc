package main

import (
	"net/url"

	"github.com/spf13/cobra"

	"sluice/client"
)

// pipelinePauses makes the verbs that let events wait for pipelines, and end that.
func pipelinePauses(t *terminal, n *noun) []*cobra.Command {
	verb := func(name, short, sentence string) *cobra.Command {
		return n.about(t, name, short, true, func(cmd *cobra.Command, args []string) error {
			c, err := t.connect()
			if err != nil {
				return err
			}
			return t.forEach(args, sentence, func(key string) (client.Answer, error) {
				answer, err := c.Command(cmd.Context(), "pipeline."+name, url.Values{n.Key: {key}}, nil)
				return answer, n.missing(cmd.Context(), c, key, err)
			})
		})
	}
	return []*cobra.Command{
		verb("pause", "Let events wait for pipelines", "Paused the pipeline %s; events wait for it."),
		verb("resume", "Let pipelines run again, the events that waited first", "The pipeline %s runs again."),
	}
}
