package requests

import (
	"bytes"
	"encoding/json"
	"fmt"

	"capcli"
)

func init() {
	Formats.Add("mooncake", "Mooncake's JSON lines: timestamp in ms, input_length, output_length, hash_ids of blocks of 512 tokens",
		Format{Sniff: sniffMooncake, Read: readMooncake})
	Formats.Add("mooncake-csv", "Mooncake as a table: timestamp_ms, tokens_in, tokens_out, prefix_blocks_seen",
		Format{Sniff: func(head []byte) bool {
			return hasColumns(head, "timestamp_ms", "tokens_in", "tokens_out", "prefix_blocks_seen")
		}, Read: readMooncakeTable})
}

// mooncakeBlock is the number of tokens of a block of Mooncake (Qin et al., "Mooncake", FAST 2025).
const mooncakeBlock = 512

// endlessCache is the note on where cached tokens come from.
const endlessCache = "cached tokens are the leading blocks of 512 that an earlier request of the trace had: the hit of an endless cache that all replicas share"

func sniffMooncake(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))), []byte{'\n'})
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"hash_ids"`)) && bytes.Contains(line, []byte(`"input_length"`))
}

func readMooncake(r *Reader) error {
	r.Note(endlessCache)
	seen := blocks{label: map[int64]int32{}}
	for {
		line, n, ok := r.nextLine()
		if !ok {
			return nil
		}
		var q struct {
			At   *json.Number `json:"timestamp"`
			In   *int64       `json:"input_length"`
			Out  *int64       `json:"output_length"`
			Hash []int64      `json:"hash_ids"`
		}
		err := json.Unmarshal(line, &q)
		switch {
		case err != nil:
			err = r.RejectRow(n, "", "expected a request as a JSON object: "+err.Error(), "")
		case q.At == nil:
			err = r.RejectRow(n, "timestamp", "is missing", "")
		case q.In == nil || *q.In < 0 || *q.In > maxTokens:
			err = r.RejectRow(n, "input_length", fmt.Sprintf("wants a number of tokens from 0 to %d", int64(maxTokens)), "")
		case q.Out != nil && (*q.Out < 0 || *q.Out > maxTokens):
			err = r.RejectRow(n, "output_length", fmt.Sprintf("wants a number of tokens from 0 to %d", int64(maxTokens)), "")
		default:
			err = r.mooncakeRow(n, q.At.String(), &Row{In: *q.In, Out: valueOf(q.Out)}, seen.add(q.Hash))
		}
		if err != nil {
			return err
		}
		if len(seen.label) > maxNames {
			return r.fault(n, "hash_ids", fmt.Sprintf("there are over %s different blocks", capcli.Grouped(maxNames)), "take a part of the trace")
		}
	}
}

func valueOf(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// mooncakeRow passes a request on whose first blocks are in the cache.
func (r *Reader) mooncakeRow(line int, at string, row *Row, hit hit) error {
	if r.clock.unit == 0 {
		if r.clock.unit = r.o.Unit; r.clock.unit == 0 {
			r.clock.unit = 1e3
		}
	}
	var dated bool
	var wrong string
	row.Arrival, dated, wrong = r.clock.read([]byte(at))
	if wrong != "" {
		return r.RejectRow(line, "timestamp", "wants a time, found "+capcli.Quoted(at), "")
	}
	row.Cached, row.Prefix = min(hit.blocks*mooncakeBlock, row.In), int64(hit.label)
	return r.pass(line, row, dated)
}

// blocks remembers which blocks an earlier request had. Requests share a prefix label where more than
// half of the blocks of the later one were seen.
type blocks struct {
	label map[int64]int32 // of the request that had the block first
	last  int32
}

// hit is how many leading blocks were seen, and the label of the prefix.
type hit struct {
	blocks int64
	label  int32
}

func (b *blocks) add(ids []int64) hit {
	var h hit
	for _, id := range ids {
		label, known := b.label[id]
		if !known {
			break
		}
		h.blocks++
		h.label = label
	}
	if h.blocks*2 <= int64(len(ids)) {
		b.last++
		h.label = b.last
	}
	for _, id := range ids[h.blocks:] {
		if _, known := b.label[id]; !known {
			b.label[id] = h.label
		}
	}
	return h
}

// readMooncakeTable reads a table derived from a trace of Mooncake.
func readMooncakeTable(r *Reader) error {
	r.Note(endlessCache)
	var p Places
	seen := -1
	var c Record
	return r.readTable(func(line int, header []string) (err error) {
		seen = capcli.FindColumn(header, "prefix_blocks_seen")
		if seen < 0 {
			return r.fault(line, "prefix_blocks_seen", "there is no such column; it has "+headerText(header), "name the format: csv")
		}
		p, err = r.FindColumns(line, header)
		r.rep.Notes = []string{}
		r.Note(endlessCache)
		return err
	}, func(line int, cells [][]byte) error {
		for _, i := range []int{colArrival, colIn, colOut, colUser, colModel} {
			if p[i] >= 0 {
				c[i] = cells[p[i]]
			}
		}
		n, wrong := tokens(cells[seen])
		if wrong != "" || n > maxTokens/mooncakeBlock {
			return r.RejectRow(line, "prefix_blocks_seen", "wants a number of blocks, found "+capcli.Quoted(string(cells[seen])), "")
		}
		c[colCached] = fmt.Appendf(c[colCached][:0], "%d", n*mooncakeBlock)
		return r.addCapped(line, &c)
	})
}

// addCapped adds a row whose last cached block may reach beyond the prompt.
func (r *Reader) addCapped(line int, c *Record) error {
	in, bad := tokens(c[colIn])
	cached, _ := tokens(c[colCached])
	if bad == "" && cached > in {
		c[colCached] = fmt.Appendf(c[colCached][:0], "%d", in)
	}
	return r.AddRecord(line, c)
}
