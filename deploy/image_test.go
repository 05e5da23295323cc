package deploy_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// buildStage runs the commands of the Dockerfile's first stage in a clean clone, and gives the
// folder that stands for the stage's root. The stage's own image, which comes from a registry,
// is not part of it: this machine's programs run instead.
func buildStage(t *testing.T) string {
	t.Helper()
	folder, root := clone(t), t.TempDir()
	certificates := filepath.Join(root, "etc/ssl/certs")
	if err := os.MkdirAll(certificates, 0o755); err != nil {
		t.Fatal(err)
	}
	authorities := read(t, "/etc/ssl/certs/ca-certificates.crt")
	if err := os.WriteFile(filepath.Join(certificates, "ca-certificates.crt"), []byte(authorities), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range regexp.MustCompile(`(?m)^RUN (.*)`).FindAllStringSubmatch(read(t, "Dockerfile"), -1) {
		run(t, []string{"TARGETARCH=" + runtime.GOARCH}, folder, "sh", "-ec", strings.ReplaceAll(command[1], "/out", root+"/out"))
	}
	return root
}

// TestDockerfile: the toolchain is that of go.mod, and the first stage makes what the second takes.
func TestDockerfile(t *testing.T) {
	text := read(t, "Dockerfile")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "../go.mod"))[1]
	if !strings.Contains(text, " golang:"+version+" AS build\n") {
		t.Errorf("the image is not built by Go %s", version)
	}
	needs(t, "git", "bash")
	root := buildStage(t)
	taken := regexp.MustCompile(`(?m)^COPY --from=build (?:--chown=\S+ )?(\S+) `).FindAllStringSubmatch(text, -1)
	if len(taken) != 3 {
		t.Errorf("the image has %v", taken)
	}
	for _, source := range taken {
		if _, err := os.Stat(filepath.Join(root, source[1])); err != nil {
			t.Error(err)
		}
	}
}

// TestImage: the image runs as nobody in particular, with nothing else in it,
// and knows whether it is well.
func TestImage(t *testing.T) {
	needs(t, "buildah", "git", "bash")
	storage := write(t, "storage.conf", "[storage]\ndriver = \"vfs\"\ngraphroot = \""+t.TempDir()+"\"\nrunroot = \""+t.TempDir()+"\"\n")
	environ := []string{"CONTAINERS_STORAGE_CONF=" + storage, "BUILDAH_ISOLATION=chroot"}
	_, second, _ := strings.Cut(read(t, "Dockerfile"), "\nFROM scratch\n")
	file := write(t, "Dockerfile", "FROM scratch\n"+strings.ReplaceAll(second, "--from=build ", ""))
	run(t, environ, ".", "buildah", "build", "--format", "docker", "-t", "sluice", "-f", file, buildStage(t))
	if about := run(t, environ, ".", "buildah", "inspect", "--type", "image", "--format", "{{.Docker.Config.User}} {{.Docker.Config.Healthcheck.Test}}", "localhost/sluice:latest"); strings.TrimSpace(about) != "65532:65532 [CMD /sluice health]" {
		t.Errorf("the image has user and health check %s", about)
	}
	container := strings.TrimSpace(run(t, environ, ".", "buildah", "from", "localhost/sluice:latest"))
	checkContent(t, strings.TrimSpace(run(t, environ, ".", "buildah", "mount", container)))
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
