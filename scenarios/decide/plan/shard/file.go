package shard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"capcli"
)

// A shardPiece is the outcome of one piece: any JSON value.
type shardPiece struct {
	Piece   int             `json:"piece"`
	Outcome json.RawMessage `json:"outcome"`
}

// A shardFile is a whole shard: all of its pieces, in order.
type shardFile struct {
	Head   Head
	Pieces []shardPiece
}

// maxLine is the longest line of a shard file or journal, in bytes.
const maxLine = 16 << 20

const (
	shardOpens  = `,"outcomes":[`
	shardCloses = `],"sha256":"`
	shardEnd    = "\"}\n"
)

// writeShard writes f as one JSON value: a line with the head, a line for each
// piece, and a line with the SHA-256 of all bytes before it.
func writeShard(w io.Writer, f *shardFile) error {
	if err := f.check(); err != nil {
		return err
	}
	sum := sha256.New()
	to := io.MultiWriter(w, sum)
	head, err := json.Marshal(&f.Head)
	if err != nil {
		return err
	}
	line := append(head[:len(head)-1], shardOpens...)
	for i := range f.Pieces {
		if _, err := to.Write(append(line, '\n')); err != nil {
			return err
		}
		if line, err = json.Marshal(&f.Pieces[i]); err != nil {
			return fmt.Errorf("the outcome of piece %d: %w", f.Pieces[i].Piece, err)
		}
		if i+1 < len(f.Pieces) {
			line = append(line, ',')
		}
		if len(line) > maxLine {
			return fmt.Errorf("the outcome of piece %d has %d bytes, over %d", f.Pieces[i].Piece, len(line), maxLine)
		}
	}
	if _, err := to.Write(append(line, '\n')); err != nil {
		return err
	}
	_, err = io.WriteString(w, shardCloses+hex.EncodeToString(sum.Sum(nil))+shardEnd)
	return err
}

// check returns an error where f does not have exactly the pieces of its shard.
func (f *shardFile) check() error {
	s := f.Head.ShardOf()
	if err := s.Check(); err != nil {
		return err
	}
	if want := s.size(f.Head.Pieces); len(f.Pieces) != want {
		return fmt.Errorf("expected the outcomes of %d pieces, found %d", want, len(f.Pieces))
	}
	i := 0
	for c := range s.numbers(f.Head.Pieces) {
		if got := f.Pieces[i].Piece; got != c {
			return fmt.Errorf("expected the outcome of piece %d, found that of %d", c, got)
		}
		i++
	}
	return nil
}

// parseShard parses the bytes b of the shard file called name. The pieces share b's memory. A file
// that was cut short or changed in any byte is an *capcli.InputError.
func parseShard(name string, b []byte) (*shardFile, error) {
	wrong := func(line int, text string, args ...any) error {
		return &capcli.InputError{
			File: name, Line: line, Text: fmt.Sprintf(text, args...),
			Hint: "run this shard again: it is computed anew",
		}
	}
	if len(b) == 0 {
		return nil, wrong(0, "expected a shard, found an empty file")
	}
	body, ok := bytes.CutSuffix(b, []byte(shardEnd))
	const tail = len(shardCloses) + 2*sha256.Size
	if !ok || len(body) < tail || !bytes.HasPrefix(body[len(body)-tail:], []byte(shardCloses)) {
		return nil, wrong(0, "expected a checksum at the end, found none: the file was cut short")
	}
	told := string(body[len(body)-2*sha256.Size:])
	body = body[:len(body)-tail]
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != told {
		return nil, wrong(0, "expected the checksum %.8s…, found %.8s…: the file was damaged", told, hex.EncodeToString(sum[:]))
	}
	// The rest was written by capcli, or by someone who can compute a checksum.
	lines := bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
	head, ok := bytes.CutSuffix(lines[0], []byte(shardOpens))
	if !ok || len(head) > maxLine {
		return nil, wrong(1, "expected the head of a shard file")
	}
	f := &shardFile{}
	if err := parseHead(append(bytes.Clone(head), '}'), &f.Head); err != nil {
		return nil, wrong(1, "%v", err)
	}
	for i, l := range lines[1:] {
		if i+2 < len(lines) {
			if l, ok = bytes.CutSuffix(l, []byte(",")); !ok {
				return nil, wrong(i+2, "expected a comma at the end")
			}
		}
		p, err := parsePiece(l)
		if err != nil {
			return nil, wrong(i+2, "%v", err)
		}
		f.Pieces = append(f.Pieces, p)
	}
	if err := f.check(); err != nil {
		return nil, wrong(0, "%v", err)
	}
	return f, nil
}

// parseHead parses a head and checks its digest.
func parseHead(b []byte, h *Head) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(h); err != nil {
		return fmt.Errorf("expected the head of a shard: %w", err)
	}
	if h.Schema != schema {
		return fmt.Errorf("expected schema %s, found %q", schema, h.Schema)
	}
	if h.Digest != h.digest() {
		return fmt.Errorf("expected the digest %.8s…, found %.8s…", h.digest(), h.Digest)
	}
	if h.Pieces < 0 {
		return fmt.Errorf("expected a number of pieces, found %d", h.Pieces)
	}
	return h.ShardOf().Check()
}

func parsePiece(b []byte) (shardPiece, error) {
	var p shardPiece
	if len(b) > maxLine {
		return p, fmt.Errorf("expected at most %d bytes in a line, found %d", maxLine, len(b))
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("expected the outcome of a piece: %w", err)
	}
	if len(p.Outcome) == 0 {
		return p, fmt.Errorf("expected the outcome of piece %d, found none", p.Piece)
	}
	return p, nil
}

// merge returns the outcomes of all pieces of a sweep, in order, from its shards: each once, in any
// order. It fails where shards are missing, repeated or of different sweeps; the caller should
// report that in detail beforehand.
func merge(files []*shardFile) ([]json.RawMessage, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("expected shards, found none")
	}
	first := &files[0].Head
	out := make([]json.RawMessage, first.Pieces)
	seen := map[int]bool{}
	for _, f := range files {
		if d := first.differences(&f.Head); len(d) > 0 {
			return nil, fmt.Errorf("shards %d and %d differ in their %s", first.Shard, f.Head.Shard, d[0])
		}
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("shard %d: %w", f.Head.Shard, err)
		}
		if seen[f.Head.Shard] {
			return nil, fmt.Errorf("expected each shard once, found %d twice", f.Head.Shard)
		}
		seen[f.Head.Shard] = true
		for _, p := range f.Pieces {
			out[p.Piece] = p.Outcome
		}
	}
	if len(seen) != first.Shards {
		return nil, fmt.Errorf("expected %d shards, found %d", first.Shards, len(seen))
	}
	return out, nil
}
