package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
)

// signIn signs in to the portal.
func (a *admin) signIn(ctx context.Context) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	a.client.Jar = jar
	request, err := newForm(ctx, "http://"+a.address+"/signin", url.Values{"username": {"admin"}, "password": {adminPassword}, "next": {"/me"}})
	if err != nil {
		return err
	}
	return exchange(&a.client, request, nil)
}

// page gives the HTML of a page.
func (a *admin) page(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/html")
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	content, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || response.Request.URL.Path == "/signin") {
		err = fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return content, err
}

var assetPaths = regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`)

// withAssets gives the size of a page together with all that it loads.
func (a *admin) withAssets(ctx context.Context, page []byte) (int, error) {
	size := len(page)
	for _, path := range assetPaths.FindAllSubmatch(page, -1) {
		asset, err := a.page(ctx, string(path[1]))
		if err != nil {
			return 0, err
		}
		size += len(asset)
	}
	return size, nil
}
