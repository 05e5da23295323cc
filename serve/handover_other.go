//go:build !unix

package serve

import (
	"errors"
	"net"
	"os"
)

func inherit() (listen func() (net.Listener, error), before *neighbour, err error) {
	return nil, nil, nil
}

func handOverSignals() (signals <-chan os.Signal, stop func()) { return nil, func() {} }

func launch(net.Listener, []string) (*neighbour, error) { return nil, errors.ErrUnsupported }
