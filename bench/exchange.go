package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// exchange sends a request and decodes what it is answered with, into nothing
// if into is nil. Anything but a whole 200 is an error.
func exchange(client *http.Client, request *http.Request, into any) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", request.Method, request.URL.Path, response.Status, content)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(content, into)
}

// newForm gives a request that posts a form.
func newForm(ctx context.Context, target string, fields url.Values) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(fields.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return request, nil
}
