package deploy_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// base makes an image in place of the one with Go from a registry: the options that it returns
// mount folders of this machine.
func base(t *testing.T, environ []string) (options []string) {
	t.Helper()
	text := read(t, "Dockerfile")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "../go.mod"))[1]
	if !strings.Contains(text, " golang:"+version+" AS build\n") {
		t.Fatalf("the image is not built by Go %s:\n%s", version, text)
	}
	root := t.TempDir()
	for _, folder := range []string{"usr", "tmp", "var/tmp", "root", "etc/ssl/certs"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.Symlink("usr/"+folder, filepath.Join(root, folder)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"etc/ssl/certs/ca-certificates.crt", "etc/passwd", "etc/hosts", "etc/resolv.conf"} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(read(t, "/"+file)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	of := func(name string) string { return strings.TrimSpace(run(t, nil, ".", "go", "env", name)) }
	file := write(t, "Dockerfile", "FROM scratch\nCOPY . /\nENV PATH="+of("GOROOT")+"/bin:/usr/bin:/bin GOPROXY="+of("GOPROXY")+" GOMODCACHE="+of("GOMODCACHE")+" GOCACHE="+of("GOCACHE")+"\n")
	run(t, environ, ".", "buildah", "build", "-t", "docker.io/library/golang:"+version, "-f", file, root)
	for _, folder := range []string{"/usr", of("GOROOT"), of("GOMODCACHE"), of("GOCACHE")} {
		options = append(options, "--volume", folder+":"+folder)
	}
	return append(options, "--pull-never")
}

// TestImage: the image is built from a clone, runs as nobody in particular, with nothing else in
// it, and knows its commit, and whether it is well.
func TestImage(t *testing.T) {
	needs(t, "buildah", "git", "bash")
	storage := write(t, "storage.conf", "[storage]\ndriver = \"vfs\"\ngraphroot = \""+t.TempDir()+"\"\nrunroot = \""+t.TempDir()+"\"\n")
	environ := []string{"CONTAINERS_STORAGE_CONF=" + storage, "BUILDAH_ISOLATION=chroot"}
	args := append([]string{"build", "--format", "docker", "-t", "sluice", "-f", "deploy/Dockerfile"}, base(t, environ)...)
	run(t, environ, clone(t), "buildah", append(args, ".")...)
	if about := run(t, environ, ".", "buildah", "inspect", "--type", "image", "--format", "{{.Docker.Config.User}} {{.Docker.Config.Healthcheck.Test}}", "localhost/sluice:latest"); strings.TrimSpace(about) != "65532:65532 [CMD /sluice health]" {
		t.Errorf("the image has user and health check %s", about)
	}
	container := strings.TrimSpace(run(t, environ, ".", "buildah", "from", "localhost/sluice:latest"))
	root := strings.TrimSpace(run(t, environ, ".", "buildah", "mount", container))
	checkContent(t, root)
	head := strings.TrimSpace(run(t, nil, "..", "git", "rev-parse", "HEAD"))
	if got := run(t, nil, ".", root+"/sluice", "version", "-o", "json"); !strings.Contains(got, `"commit":"`+head+`"`) {
		t.Errorf("built from %s it says %s", head, got)
	}
	address := freePort(t)
	inside := func(args ...string) []string {
		settings := []string{"run", "--env", "SLUICE_LISTEN=" + address, "--env", "SLUICE_MIN_FREE_DISK=1MiB", container, "--"}
		return append(settings, args...)
	}
	background(t, environ, "buildah", inside("/sluice", "serve")...)
	eventually(t, "a healthy container", func() bool {
		cmd := exec.CommandContext(t.Context(), "buildah", inside("/sluice", "health")...)
		cmd.Env = append(os.Environ(), environ...)
		return cmd.Run() == nil
	})
}

// checkContent wants nothing in an image but the program, the authorities, and
// a folder that the program may write to.
func checkContent(t *testing.T, root string) {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(files, []string{"etc/ssl/certs/ca-certificates.crt", "sluice"}) {
		t.Errorf("the image has %v", files)
	}
	info, err := os.Stat(filepath.Join(root, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 65532 {
		t.Errorf("the folder belongs to %d", owner)
	}
}
