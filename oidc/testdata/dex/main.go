// Command dex runs Dex, an OpenID provider that others wrote, for the tests
// of the service. It is a module of its own, so that nothing of Dex comes into
// the service. It listens on the address that is its argument, or on any port,
// prints the issuer's URL and serves until its input ends.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/server/signer"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"github.com/dexidp/dex/web"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/crypto/bcrypt"
)

// tokensValidFor is how long its tokens live.
const tokensValidFor = time.Hour

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	address := "127.0.0.1:0"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	issuer := "http://" + listener.Addr().String() + "/dex"
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	store, err := known(log)
	if err != nil {
		return err
	}
	config := server.Config{
		Issuer:  issuer,
		Storage: store,
		AllowedGrantTypes: []string{
			"authorization_code", "password", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code",
		},
		PasswordConnector:  server.LocalConnector,
		IDTokensValidFor:   tokensValidFor,
		Web:                server.WebConfig{WebFS: web.FS()},
		Logger:             log,
		PrometheusRegistry: prometheus.NewRegistry(),
	}
	if config.RefreshTokenPolicy, err = server.NewRefreshTokenPolicy(log, false, "", "", ""); err != nil {
		return err
	}
	signing := signer.LocalConfig{KeysRotationPeriod: "6h"}
	if config.Signer, err = signing.Open(ctx, store, tokensValidFor, time.Now, log); err != nil {
		return err
	}
	config.Signer.Start(ctx) // before the server asks which algorithm it has
	dex, err := server.NewServer(ctx, config)
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // whatever ends it, the test is over
		os.Exit(0)
	}()
	fmt.Println(issuer)
	return (&http.Server{Handler: dex, ReadHeaderTimeout: time.Minute}).Serve(listener)
}

// known returns a store with two clients and two users, one of them without
// roles. They are static, since the plain store in memory locks itself out when
// a password user refreshes.
func known(log *slog.Logger) (storage.Storage, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte("dex-password"), bcrypt.DefaultCost)
	if err != nil {
		return nil, err
	}
	store := storage.WithStaticClients(memory.New(log), []storage.Client{
		{ID: "receiver", Secret: "receiver-secret", Name: "Receiver", RedirectURIs: []string{
			"http://hooks.example.org/signin/callback", // of the tests
			"http://127.0.0.1:8081/signin/callback",    // of the documents
		}},
		{ID: "sluice-cli", Public: true, Name: "sluice on the command line"},
	})
	store = storage.WithStaticConnectors(store, []storage.Connector{
		{ID: server.LocalConnector, Type: server.LocalConnector, Name: "Email"},
	})
	return storage.WithStaticPasswords(store, []storage.Password{
		{Email: "anna@example.com", Hash: hash, Username: "anna", UserID: "0001", Groups: []string{"developer"}},
		{Email: "otto@example.com", Hash: hash, Username: "otto", UserID: "0002"},
	}, log), nil
}
