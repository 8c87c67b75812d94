package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeAWS is "aws s3 sync FROM/ s3://BUCKET/TO/ [--delete]" on folders: $BUCKETS
// stands for s3:/. It knows only the filters that pass Parquet files.
const fakeAWS = `#!/bin/sh
set -eu
[ "$1 $2" = "s3 sync" ] || exit 64
from=$3 to=$BUCKETS/${4#s3://}
shift 4
delete=
while [ $# -gt 0 ]; do
  case $1 in
  --delete) delete=yes; shift ;;
  --exclude) [ "$2" = '*' ] || exit 64; shift 2 ;;
  --include) [ "$2" = '*.parquet' ] || exit 64; shift 2 ;;
  *) exit 64 ;;
  esac
done
(cd "$from" && find . -name '*.parquet') | while read -r f; do
  mkdir -p "$(dirname "$to$f")"
  cp "$from$f" "$to$f"
done
[ -n "$delete" ] || exit 0
(cd "$to" && find . -name '*.parquet') | while read -r f; do
  [ -e "$from$f" ] || rm "$to$f"
done
`

// TestFleetUpload runs the upload of docs/fleet.md as it stands there on two
// boxes. It brings each its own history and removes nobody else's.
func TestFleetUpload(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh here")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```sh\n")
	script, _, ok := strings.Cut(rest, "```\n")
	if !ok || strings.Count(script, "/var/lib/capcli/profile") != 1 {
		t.Fatalf("docs/fleet.md has no upload in one block of sh:\n%s", script)
	}
	root := t.TempDir()
	tools := map[string]string{
		"aws": fakeAWS, "capcli": "#!/bin/sh\nexit ${COMPACTED:-0}\n",
		"hostname": "#!/bin/sh\necho $BOX\n", "date": "#!/bin/sh\necho 2026-11-22\n",
	}
	for name, body := range tools {
		writeUnder(t, root, "bin/"+name, body)
		if err := os.Chmod(filepath.Join(root, "bin", name), 0o700); err != nil { //nolint:gosec // it is to be run
			t.Fatal(err)
		}
	}
	upload := func(box string, env ...string) error {
		dir := filepath.Join(root, box)
		cmd := exec.Command(sh, "-c", strings.Replace(script, "/var/lib/capcli/profile", dir, 1)) //nolint:gosec // our own manual
		cmd.Env = append([]string{"PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"), "BOX=" + box, "BUCKETS=" + filepath.Join(root, "s3")}, env...)
		out, err := cmd.CombinedOutput()
		t.Logf("%s: %v\n%s", box, err, out)
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const old, last, now = "date=2026-11-20/host=", "date=2026-11-21/host=", "date=2026-11-22/host="
	for _, box := range []string{"a", "b"} {
		writeUnder(t, root, box+"/"+old+box+"/samples-1.parquet", "1")
		writeUnder(t, root, box+"/"+last+box+"/samples-1.parquet", "1")
		writeUnder(t, root, box+"/"+now+box+"/samples-1.parquet", "1")
		writeUnder(t, root, box+"/.wal/host="+box+"/segment", "1")
		must(upload(box))
	}
	// Box a no longer keeps its first day, emptied the folder of none, and compacted the second again.
	must(os.RemoveAll(filepath.Join(root, "a", old+"a")))
	must(os.MkdirAll(filepath.Join(root, "a", old+"a"), 0o750))
	must(os.Remove(filepath.Join(root, "a", last+"a", "samples-1.parquet")))
	writeUnder(t, root, "a/"+last+"a/samples-2.parquet", "2")
	must(upload("a"))
	if upload("a", "COMPACTED=1") == nil {
		t.Error("an upload after a compaction that failed ended well")
	}
	want := []string{old + "a/samples-1.parquet", last + "a/samples-2.parquet", old + "b/samples-1.parquet", last + "b/samples-1.parquet"}
	slices.Sort(want)
	if got := filesUnder(t, filepath.Join(root, "s3", "gpu-profiles")); !slices.Equal(got, want) {
		t.Errorf("the bucket holds %q, want %q", got, want)
	}
}

func writeUnder(t *testing.T, root, name, text string) {
	t.Helper()
	full := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// filesUnder gives the names of all files below root, in order.
func filesUnder(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, name)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}
