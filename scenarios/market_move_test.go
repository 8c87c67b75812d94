package scenarios

import (
	"strings"
	"testing"
)

const twoModels = "capcli: market/v1\ngpus: [{gpu_model: A100, on_demand: 2}, {gpu_model: H100, on_demand: 4}]\n"

// A move of a flag and of a file are the same.
func TestMovesOfFlagAndFile(t *testing.T) {
	fromFile, err := ParseMarket("m.yaml", []byte(twoModels+"moves: [{from: A100, to: H100, speed: 2.25, share: 30%}, {from: H100, to: A100, speed: 0.4}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	fromFlag, err := ParseMarket("m.yaml", []byte(twoModels))
	if err != nil {
		t.Fatal(err)
	}
	if err := fromFlag.AddMoves([]string{"A100:H100=2.25@30%", "H100:A100=0.4"}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []MarketMove{{From: 0, To: 1, Speed: 2250, Share: 300_000}, {From: 1, To: 0, Speed: 400, Share: 1_000_000}} {
		for _, got := range []MarketMove{fromFile.Moves[i], fromFlag.Moves[i]} {
			if got.From != want.From || got.To != want.To || got.Speed != want.Speed || got.Share != want.Share {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
	}
}

// A wrong move is refused with what was expected, in a flag and in a file.
func TestMovesThatAreWrong(t *testing.T) {
	for _, x := range []struct{ flag, file, want string }{
		{"A100", "", "it is not FROM:TO=SPEED"},
		{"A100=2", "", "it is not FROM:TO=SPEED"},
		{"A100:H100=0", "{from: A100, to: H100, speed: 0}", "from 0.01 to 100"},
		{"A100:H100=fast", "{from: A100, to: H100, speed: fast}", "from 0.01 to 100"},
		{"A100:H100=2@130%", "{from: A100, to: H100, speed: 2, share: 130%}", "100%, such as"},
		{"A100:H100=2@0", "{from: A100, to: H100, speed: 2, share: 0}", "a share of 0 moves nothing"},
		{"A100:B200=2", "{from: A100, to: B200, speed: 2}", "no model \"B200\"; it has A100, H100"},
		{"V100:H100=2", "{from: V100, to: H100, speed: 2}", "no model \"V100\"; it has A100, H100"},
		{"A100:A100=2", "{from: A100, to: A100, speed: 2}", "both are \"A100\""},
		{"A100:H100=2@10%,A100:H100=3@10%", "{from: A100, to: H100, speed: 2, share: 10%}, {from: A100, to: H100, speed: 3, share: 10%}", "listed twice"},
	} {
		m, err := ParseMarket("m.yaml", []byte(twoModels))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.AddMoves(strings.Split(x.flag, ",")); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %s", x.flag, err, x.want)
		}
		if x.file == "" {
			continue
		}
		if _, err := ParseMarket("m.yaml", []byte(twoModels+"moves: ["+x.file+"]\n")); err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), "m.yaml:3") {
			t.Errorf("%s: %v, want %s", x.file, err, x.want)
		}
	}
	m, err := ParseMarket("m.yaml", []byte(strings.Replace(twoModels, "]", ", {gpu_model: B200, on_demand: 8}]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.AddMoves([]string{"A100:H100=2@60%", "A100:B200=4@60%"}); err == nil || !strings.Contains(err.Error(), "take 120% of its work") {
		t.Error(err)
	}
}
