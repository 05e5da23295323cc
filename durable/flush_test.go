package durable

import "testing"

func TestAWriterWaitsForASyncThatBeganLater(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	f := NewFlusher(func() error {
		started <- struct{}{}
		<-finish
		return nil
	})
	go f.Run(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- f.Flush(t.Context()) }()
	<-started
	go func() { second <- f.Flush(t.Context()) }()
	finish <- struct{}{}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	<-started // a sync of its own for the second
	select {
	case <-second:
		t.Error("the second writer was released by a sync that began before it wrote")
	default:
	}
	finish <- struct{}{}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
}
