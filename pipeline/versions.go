package pipeline

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"io"
	"slices"

	"sluice"
	"sluice/pipeline/source"
)

// maxVersions is how many sources of a pipeline are kept, with the current one.
const maxVersions = 20

type versionsParams struct {
	Name string `json:"name" required:"true" names:"pipeline" doc:"The pipeline."`
}

func (r *Runner) versions(ctx context.Context, p versionsParams) ([]sluice.VersionView, error) {
	stored, err := r.find(ctx, p.Name)
	if err != nil {
		return nil, err
	}
	former, err := r.former(ctx, stored)
	if err != nil {
		return nil, err
	}
	views := []sluice.VersionView{{
		Version: versionOf(stored), Owner: stored.Owner, Time: stored.Updated, Current: true,
	}}
	for _, v := range slices.Backward(former) {
		views = append(views, sluice.VersionView{Version: v.Version, Owner: v.Owner, Time: v.Time})
	}
	return views, nil
}

// versionOf returns the number of a pipeline's current version.
func versionOf(p *sluice.Pipeline) int { return max(1, p.Version) }

// former returns the versions of a pipeline before the current one, oldest first.
func (r *Runner) former(ctx context.Context, p *sluice.Pipeline) ([]sluice.PipelineVersion, error) {
	history, err := r.History.Get(ctx, p.Name)
	if err != nil || history == nil || !history.Created.Equal(p.Created) {
		return nil, err
	}
	// The current version is in the history if storing the next one failed.
	return slices.DeleteFunc(slices.Clone(history.Versions),
		func(v sluice.PipelineVersion) bool { return v.Version >= versionOf(p) }), nil
}

// at returns a pipeline as it was in a version.
func (r *Runner) at(ctx context.Context, p *sluice.Pipeline, version int) (*sluice.Pipeline, error) {
	if version == versionOf(p) {
		return p, nil
	}
	former, err := r.former(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, v := range former {
		if v.Version == version {
			source, err := unpack(v.Packed)
			return &sluice.Pipeline{
				Name: p.Name, Source: source, Owner: v.Owner, Folder: p.Folder, Version: version, Created: p.Created,
				Updated: v.Time,
			}, err
		}
	}
	return nil, sluice.CodeVersionUnknown.Errorf(
		"The pipeline %s has no version %d, or it is not kept any more; pipeline.versions lists those there are.",
		sluice.Quote(p.Name), version).About("version")
}

// keep adds the current version of a pipeline to its history, before it is replaced.
func (r *Runner) keep(ctx context.Context, p *sluice.Pipeline) error {
	current := sluice.PipelineVersion{Version: versionOf(p), Owner: p.Owner, Time: p.Updated, Packed: pack(p.Source)}
	_, err := sluice.Replace(ctx, r.History, p.Name,
		func(before *sluice.PipelineHistory) (*sluice.PipelineHistory, error) {
			var kept []sluice.PipelineVersion
			switch {
			case before == nil || before.Created.Before(p.Created):
			case before.Created.After(p.Created):
				return nil, sluice.ErrUnchanged // it was deleted and created again since it was read
			default:
				kept = before.Versions
			}
			if last := len(kept) - 1; last >= 0 && kept[last].Version >= current.Version {
				return nil, sluice.ErrUnchanged // another request has kept it already
			}
			kept = append(slices.Clone(kept), current)
			return &sluice.PipelineHistory{Created: p.Created, Versions: kept[max(0, len(kept)-(maxVersions-1)):]}, nil
		})
	return err
}

// forget drops the former versions of a deleted pipeline. It only logs a failure: a later
// pipeline of that name does not take them for its own.
func (r *Runner) forget(ctx context.Context, name string) {
	ctx = context.WithoutCancel(ctx)
	err := errors.Join(sluice.Remove(ctx, r.History, name), sluice.Remove(ctx, r.Tickings, name))
	if err != nil {
		r.Log.Warn("The former sources of a deleted pipeline could not be deleted.", "pipeline", name,
			"error", err.Error())
	}
}

// pack compresses a source: each node keeps many of them in memory.
func pack(source string) []byte {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression) // fails on an unknown level only
	_, _ = io.WriteString(w, source)                        // a buffer takes it all
	_ = w.Close()
	return packed.Bytes()
}

func unpack(packed []byte) (string, error) {
	source, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), source.MaxSource))
	return string(source), err
}

type rollbackParams struct {
	Name    string `json:"name" required:"true" audit:"yes" names:"pipeline" doc:"The pipeline."`
	Version int    `json:"version" required:"true" min:"1" audit:"yes" doc:"The version whose source is stored again; pipeline.versions lists them."`
	Force   bool   `json:"force" doc:"Store it although steps would be refused when it runs, as pipeline.put does."`
	IfMatch string `json:"ifMatch" doc:"As pipeline.put has it."`
}

func (r *Runner) rollback(ctx context.Context, p rollbackParams) (view sluice.PipelineView, err error) {
	stored, err := r.find(ctx, p.Name)
	if err == nil {
		stored, err = r.at(ctx, stored, p.Version)
	}
	if err != nil {
		return view, err
	}
	return r.put(ctx, putParams{Name: p.Name, Source: stored.Source, Force: p.Force, IfMatch: p.IfMatch})
}
