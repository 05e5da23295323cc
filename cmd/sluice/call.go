package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
)

// call calls a webhook as flags say; to test it, it waits for the result.
func (t *cli) call(ctx context.Context) error {
	header, err := headersOf(t.Texts("header"))
	if err != nil {
		return err
	}
	body, err := t.payload()
	if err != nil {
		return err
	}
	result, err := t.makeCall(ctx, t.Args[0], t.Text("sample"), header, body)
	if err != nil {
		return err
	}
	if (t.On("wait") || t.Verb.Name == "test") && result.Status == sluice.StatusProcessing {
		return t.awaitResult(ctx, result.CorrelationID)
	}
	return t.showResult(result)
}

// makeCall calls a webhook. By its token it calls as any stranger would, by its event
// key as the sender would, with a signature.
func (t *cli) makeCall(
	ctx context.Context, name, sample string, header http.Header, body *client.Body,
) (client.Result, error) {
	if sluice.IsToken(name) {
		if sample != "" {
			return client.Result{}, exit.Usage("--sample needs the event key of the webhook, not its token.")
		}
		result, err := t.Server.Call(ctx, name, header, body)
		if e, ok := errors.AsType[*sluice.Error](err); ok && e.Code == string(sluice.CodeSignatureMissing) {
			err = e.Saying(e.Message + " Call it by its event key, logged in, to have it signed.")
		}
		return result, err
	}
	hook, err := t.Server.Webhook(ctx, name)
	switch {
	case err != nil:
		return client.Result{}, t.missing(ctx, name, err)
	case (hook.SigningSecrets == nil || *hook.SigningSecrets == 0) && sample == "":
		return t.Server.Call(ctx, hook.OpenToken(), header, body)
	}
	made, err := t.Server.Sign(ctx, name, sample, body)
	switch {
	case err == nil:
		return t.Server.CallSigned(ctx, made, header)
	case len(header) > 0 && sample == "":
		return t.Server.Call(ctx, hook.OpenToken(), header, body) // perhaps the headers have the signature
	case sluice.CodeBodyMalformed.Is(err):
		err = sluice.CodeNotSignable.Errorf(
			"The server signs text in UTF-8 only; give the signature of this body with --header.").Because(err)
	}
	return client.Result{}, err
}

func headersOf(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, exit.Usage("%q is not of the form name: value.", line)
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return header, nil
}

// payload returns the body of a call, nil if it has none.
func (t *cli) payload() (*client.Body, error) {
	body, files := t.Text("body"), t.Texts("file")
	switch {
	case len(files) > 0 && body != "":
		return nil, exit.Usage("--body and --file exclude each other; give one of them.")
	case t.Text("sample") != "" && (body != "" || len(files) > 0):
		return nil, exit.Usage("--sample brings its own payload; leave out --body and --file.")
	case len(files) > 0:
		return t.upload(files)
	case body == "":
		return nil, nil
	}
	content, err := t.ReadBody(body)
	if err != nil {
		return nil, err
	}
	return &client.Body{Content: content, ContentType: cmp.Or(t.Text("content-type"), typeOf(body, content))}, nil
}

// typeOf returns the media type of a file.
func typeOf(name string, content []byte) string {
	if known := mime.TypeByExtension(filepath.Ext(name)); known != "" && !json.Valid([]byte(name)) {
		return known
	}
	switch {
	case json.Valid(content):
		return "application/json"
	case utf8.Valid(content):
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

func (t *cli) upload(names []string) (*client.Body, error) {
	files := make([]client.File, len(names))
	for i, name := range names {
		content, err := t.Read(name)
		if err != nil {
			return nil, err
		}
		files[i] = client.File{Name: filepath.Base(name), ContentType: typeOf(name, content), Content: content}
	}
	return client.Upload(files)
}
