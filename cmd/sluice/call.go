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

	"github.com/spf13/cobra"

	"sluice"
	"sluice/client"
	"sluice/cmd/sluice/exit"
	"sluice/cmd/sluice/terminal"
)

// A testCall is a call of a webhook, from flags.
type testCall struct {
	body        string
	sample      string
	contentType string
	files       []string
	headers     []string
	waiting     awaiting
}

func callCommand(t *cli) *cobra.Command {
	var call testCall
	cmd := &cobra.Command{
		Use:   "call EVENTKEY|TOKEN",
		Short: "Call a webhook, as an outside system would",
		Long: `Call a webhook, as an outside system would. By its event key the token is looked up, and the call
			signed if the webhook takes signed calls, which needs a login that may do that; by its token none is
			needed, and nothing is signed.`,
		Example:           "  echo '{\"name\":\"Ada\"}' | sluice call webhook.lead.created --body - --wait",
		Args:              terminal.Needs("the event key or the token of a webhook"),
		ValidArgsFunction: t.CompleteNames("webhook.get", "eventKey", terminal.NoFiles),
		RunE: t.Connected(func(ctx context.Context, args []string) error {
			return t.callWebhook(ctx, args[0], call)
		}),
	}
	call.addFlags(cmd)
	call.waiting.addFlags(cmd)
	return cmd
}

func (call *testCall) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&call.body, "body", "", "payload: JSON text, a file, or - for standard input")
	flags.StringVar(&call.sample, "sample", "",
		"event of the webhook's provider to send, such as push; sluice provider show lists them")
	flags.StringVar(&call.contentType, "content-type", "",
		"type of the payload (default: by the file's ending, or by its look)")
	flags.StringArrayVar(&call.files, "file", nil, "file to upload; may be repeated")
	flags.StringArrayVar(&call.headers, "header", nil, "further header as name: value; may be repeated")
}

func (t *cli) callWebhook(ctx context.Context, name string, call testCall) error {
	header, err := headersOf(call.headers)
	if err != nil {
		return err
	}
	body, err := t.payloadOf(call)
	if err != nil {
		return err
	}
	result, err := t.makeCall(ctx, name, call.sample, header, body)
	if err != nil {
		return err
	}
	if call.waiting.wanted && result.Status == sluice.StatusProcessing {
		return t.awaitResult(ctx, result.CorrelationID, call.waiting)
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
		if e, ok := errors.AsType[*sluice.Error](err); ok && e.Code == sluice.CodeSignatureMissing.Word {
			err = e.Saying(e.Message + " Call it by its event key, logged in, to have it signed.")
		}
		return result, err
	}
	hook, err := t.Server.Webhook(ctx, name)
	switch {
	case err != nil:
		return client.Result{}, t.resourceNamed("webhook").missing(ctx, name, err)
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
		err = sluice.Errorf(sluice.CodeNotSignable,
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

// payloadOf returns the body of a call, nil if it has none.
func (t *cli) payloadOf(call testCall) (*client.Body, error) {
	switch {
	case len(call.files) > 0 && call.body != "":
		return nil, exit.Usage("--body and --file exclude each other; give one of them.")
	case call.sample != "" && (call.body != "" || len(call.files) > 0):
		return nil, exit.Usage("--sample brings its own payload; leave out --body and --file.")
	case len(call.files) > 0:
		return t.upload(call.files)
	}
	if call.body == "" {
		return nil, nil
	}
	content, err := t.ReadBody(call.body)
	if err != nil {
		return nil, err
	}
	return &client.Body{Content: content, ContentType: cmp.Or(call.contentType, typeOf(call.body, content))}, nil
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
