package deploy_test

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sluice/serve"
)

// clone returns a clean clone of the commit that is checked out.
func clone(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "clone")
	origin, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	run(t, nil, ".", "git", "clone", "-q", "--depth=1", "file://"+origin, folder)
	return folder
}

// TestBuilds: two builds of a commit, at different places and by users with different habits,
// are the same to the byte. The program needs nothing of the machine, and knows its commit.
func TestBuilds(t *testing.T) {
	needs(t, "git", "bash", "sha256sum", "tar", "gzip", "zip", "dpkg", "rpm", "unshare", "setpriv")
	head := strings.TrimSpace(run(t, nil, "..", "git", "rev-parse", "HEAD"))
	sums := map[string]bool{}
	var dist string
	for _, habits := range []string{"umask 022; export TZ=UTC", "umask 077; export TZ=Asia/Tokyo LC_ALL=C.UTF-8 GOFLAGS=-tags=mine"} {
		folder := clone(t)
		dist = filepath.Join(folder, "dist")
		run(t, nil, folder, "bash", "-c", habits+"; deploy/build linux/"+runtime.GOARCH+" windows/amd64")
		run(t, nil, dist, "sha256sum", "--check", "--quiet", "SHA256SUMS")
		sums[read(t, filepath.Join(dist, "SHA256SUMS"))] = true
	}
	if len(sums) != 1 {
		t.Fatalf("two builds differ: %v", sums)
	}
	if got := run(t, nil, dist, "./sluice-linux-"+runtime.GOARCH, "version", "-o", "json"); !strings.Contains(got, `"commit":"`+head+`"`) {
		t.Errorf("built from %s it says %s", head, got)
	}
	name := "sluice_" + serve.Version + "_linux_" + runtime.GOARCH
	t.Run("archives", func(t *testing.T) { checkArchives(t, dist, name) })
	t.Run("deb", func(t *testing.T) {
		checkPackage(t, dist, packager{
			install: "dpkg -i /mnt/" + name + ".deb", upgrade: "dpkg -i /mnt/" + name + ".deb",
			list: "dpkg -L sluice", remove: "dpkg -r sluice; ls /etc/sluice/sluice.yaml; dpkg -P sluice",
		})
	})
	t.Run("rpm", func(t *testing.T) {
		checkPackage(t, dist, packager{ // the packages that this one needs are here, but rpm does not know them
			install: "rpm -i --force-debian --nodeps /mnt/" + name + ".rpm", upgrade: "rpm -U --force-debian --nodeps --replacepkgs /mnt/" + name + ".rpm",
			list: "rpm -ql sluice", remove: "rpm -e --force-debian sluice; ls /etc/sluice/sluice.yaml.rpmsave",
		})
	})
}

func checkArchives(t *testing.T, dist, linux string) {
	t.Helper()
	want := []string{"LICENSE", "README.md", "sluice", "sluice.service", "sluice.socket", "sluice.yaml"}
	if found := tarred(t, filepath.Join(dist, linux+".tar.gz")); !slices.Equal(found, under(linux, want...)) {
		t.Errorf("%s has %v", linux, found)
	}
	chart := tarred(t, filepath.Join(dist, "sluice-"+serve.Version+".tgz"))
	for _, file := range under("sluice", "Chart.yaml", "values.yaml", "values.schema.json", "cluster.yaml", "templates/nodes.yaml") {
		if !slices.Contains(chart, file) {
			t.Errorf("the chart has %v, and not %s", chart, file)
		}
	}
	windows := "sluice_" + serve.Version + "_windows_amd64"
	reader, err := zip.OpenReader(filepath.Join(dist, windows+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var found []string
	for _, file := range reader.File {
		found = append(found, file.Name)
	}
	if !slices.Equal(found, under(windows, "LICENSE", "README.md", "sluice.exe", "sluice.yaml")) {
		t.Errorf("%s has %v", windows, found)
	}
}

// under gives the paths of files in a folder.
func under(folder string, files ...string) (paths []string) {
	for _, file := range files {
		paths = append(paths, folder+"/"+file)
	}
	return paths
}

// tarred lists the files of an archive, which anyone may read, and which belong to root.
func tarred(t *testing.T, path string) (files []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Mode&0o044 != 0o044 || header.Mode&0o022 != 0 || header.Uid != 0 {
			t.Errorf("%s has the mode %o and belongs to %d", header.Name, header.Mode, header.Uid)
		}
		if header.Typeflag == tar.TypeReg {
			files = append(files, header.Name)
		}
	}
}

// A packager has the commands that work on a package, which lies in /mnt.
type packager struct{ install, upgrade, list, remove string }

// checkPackage installs a package for real, in a layer over this machine's root which goes with
// the test, starts the server from it, upgrades it and removes it.
func checkPackage(t *testing.T, dist string, p packager) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("root can install packages")
	}
	layer := t.TempDir()
	for _, folder := range []string{"upper", "work", "root"} {
		if err := os.Mkdir(filepath.Join(layer, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	inside := func(script string) []string {
		const enter = `cd "$1"
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount --bind "$2" root/mnt
mount --bind /dev root/dev
exec chroot root sh -ec "$3"`
		return []string{"--mount", "sh", "-ec", enter, "sh", layer, dist, script}
	}
	within := func(script string) string { return run(t, nil, ".", "unshare", inside(script)...) }

	within(p.install)
	files := strings.Fields(within("for file in $(" + p.list + "); do [ -d $file ] || echo $file; done"))
	slices.Sort(files)
	if want := []string{"/etc/sluice/sluice.yaml", "/usr/bin/sluice", "/usr/lib/systemd/system/sluice.service", "/usr/lib/systemd/system/sluice.socket", "/usr/share/doc/sluice/copyright"}; !slices.Equal(files, want) {
		t.Errorf("the package has %v", files)
	}
	if got := within("stat -c '%U %G %a' /var/lib/sluice; stat -c '%U %a' /usr/bin/sluice /etc/sluice/sluice.yaml"); got != "sluice sluice 700\nroot 755\nroot 644\n" {
		t.Errorf("owners and modes are %s", got)
	}
	t.Run("serves", func(t *testing.T) {
		address := freePort(t)
		background(t, []string{"SLUICE_MIN_FREE_DISK=1MiB", "SLUICE_DATA=/var/lib/sluice"}, "unshare",
			inside("exec setpriv --reuid=sluice --regid=sluice --clear-groups sluice serve --config /etc/sluice/sluice.yaml --listen "+address)...)
		eventually(t, "a server that is ready", func() bool {
			answer, err := http.Get("http://" + address + "/readyz")
			if err != nil {
				return false
			}
			defer answer.Body.Close()
			return answer.StatusCode == http.StatusOK
		})
	})
	if got := within("echo '# mine' >>/etc/sluice/sluice.yaml; (" + p.upgrade + ") >/dev/null; tail -n 1 /etc/sluice/sluice.yaml"); got != "# mine\n" {
		t.Errorf("after an upgrade, settings end with %s", got)
	}
	within(p.remove)
	if got := within("ls /usr/bin/sluice /usr/lib/systemd/system/sluice.service /etc/sluice/sluice.yaml 2>/dev/null || true; stat -c '%U' /var/lib/sluice/format"); got != "sluice\n" {
		t.Errorf("after a removal there are %s", got)
	}
}
