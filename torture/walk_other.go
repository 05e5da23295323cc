//go:build !linux

package main

import (
	"context"
	"os"
	"path/filepath"
)

func takeDescriptors(context.Context, *walk, *walkNode) error { return nil } // only Linux sets limits of others

func fillDisk(context.Context, *walk, *walkNode) error { return nil } // likewise, disks of their own are mounted there

func (n *walkNode) mountDisk() error { return os.Mkdir(filepath.Dir(n.data), 0o700) }

func (n *walkNode) unmountDisk() error { return nil }
