package main

import (
	"context"
	"runtime"

	"sluice/serve"
)

func (t *cli) version(context.Context) error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	told := map[string]string{
		"version": serve.Version, "commit": serve.Commit(), "go": runtime.Version(), "platform": platform,
	}
	return t.Report(told, "sluice %s, %s, %s", serve.Release(), runtime.Version(), platform)
}
