package shard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// A journal keeps the finished pieces of a shard until the shard is whole: a line with the head,
// then a line for each piece in the order in which they finished, each after the start of its own
// SHA-256. A program that is killed leaves at most one torn line, which is ignored.

// journalSum is the number of bytes of the checksum before a line, written in hex.
const journalSum = 8

// journalLine returns a line of a journal: v as JSON after its checksum.
func journalLine(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	line := append(lineSum(text), ' ')
	return append(append(line, text...), '\n'), nil
}

func lineSum(text []byte) []byte {
	sum := sha256.Sum256(text)
	return hex.AppendEncode(nil, sum[:journalSum])
}

// parseJournal parses the journal with the bytes b, for the shard with head h. It returns the
// intact pieces by number, and the number of damaged lines. ok is false for a journal of another
// sweep, or without an intact head. Of two lines for one piece the first counts.
func parseJournal(h *Head, b []byte) (pieces map[int]shardPiece, dropped int, ok bool) {
	pieces = map[int]shardPiece{}
	first := true
	for line := range bytes.Lines(b) {
		text, whole := journalText(line)
		if first {
			first = false
			var got Head
			if !whole || parseHead(text, &got) != nil || got.Shard != h.Shard || got.Digest != h.Digest {
				return pieces, 0, false
			}
			continue
		}
		p, err := shardPiece{}, error(nil)
		if whole {
			p, err = parsePiece(text)
		}
		if !whole || err != nil || !h.ShardOf().holds(p.Piece, h.Pieces) {
			dropped++
			continue
		}
		if _, twice := pieces[p.Piece]; !twice {
			pieces[p.Piece] = p
		}
	}
	return pieces, dropped, !first
}

// journalText removes the checksum from a line, and reports whether the line is intact.
func journalText(line []byte) (text []byte, whole bool) {
	line, whole = bytes.CutSuffix(line, []byte("\n"))
	if !whole || len(line) > maxLine {
		return nil, false
	}
	sum, text, found := bytes.Cut(line, []byte(" "))
	return text, found && bytes.Equal(sum, lineSum(text))
}

func (s Shard) holds(c, total int) bool { return c >= 0 && c < total && c%s.Count == s.Index }
