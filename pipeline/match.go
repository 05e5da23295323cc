package pipeline

import (
	"time"

	"sluice"
)

// tagOf returns the entity tag of a pipeline's current version.
func tagOf(p *sluice.Pipeline) string { return sluice.EntityTag(versionOf(p), p.Updated) }

// checkMatch rejects a change if the pipeline has none of the tags that the caller gave.
func checkMatch(tags string, p *sluice.Pipeline, name string) error {
	if tags == "" {
		return nil
	}
	if p == nil {
		return sluice.Errorf(sluice.CodeChangedMeanwhile, "There is no pipeline %s, or not any more, so none has the "+
			"tag that was given; leave ifMatch (over HTTP: If-Match) out to create it.", sluice.Quote(name)).
			About("ifMatch")
	}
	if sluice.TagMatches(tags, tagOf(p)) {
		return nil
	}
	return sluice.Errorf(sluice.CodeChangedMeanwhile, "The pipeline %s was changed meanwhile: %s stored version %d "+
		"at %s. Read it again, and make your change to that.",
		sluice.Quote(name), p.Owner, versionOf(p), p.Updated.Format(time.RFC3339)).About("ifMatch")
}
