package inputs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"capcli"
	"capcli/profile/logs/trace"
)

func (r *reading) hash(name string) (string, error) { return Hash(r.Sources.Open, name) }

// Hash returns the hash of a file, in hexadecimal.
func Hash(open trace.Opener, name string) (string, error) {
	in, closer, err := open(name)
	if err != nil {
		return "", err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, in.R); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// jobLines writes jobs as JSON lines.
func jobLines(jobs []capcli.Job) ([]byte, error) {
	var b bytes.Buffer
	err := trace.WriteJSONL(&b, capcli.StreamJobs(jobs))
	return b.Bytes(), err
}
