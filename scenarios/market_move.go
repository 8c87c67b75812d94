package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
)

// MarketMove is work that may move between two GPU models: up to Share of the work of From in each
// step of the demand may run on To, where Speed hours of a GPU of From are one hour of a GPU of To.
// Work moves once: what came to a model does not go on to another.
type MarketMove struct {
	From, To int   // indexes in Market.GPUs
	Speed    int64 // thousandths
	Share    int64 // millionths

	from, to string
	node     *yaml.Node
}

const (
	wholeShare = 1_000_000
	mostSpeed  = 100
)

// moveForm is the form of a move in a flag.
const moveForm = "A100:H100=2.0@30%: up to 30% of the work of the A100 may run on the H100, 2 hours in 1; without @30%, all of it"

// AddMoves adds moves, written as in A100:H100=2.0@30%, to those of the market. The error is
// *capcli.RequestError.
func (m *Market) AddMoves(texts []string) error {
	for _, text := range texts {
		x, problem := MarketMove{Share: wholeShare}, ""
		pair, terms, given := strings.Cut(text, "=")
		speed, part, parted := strings.Cut(terms, "@")
		var paired, isSpeed bool
		isShare := true
		x.from, x.to, paired = strings.Cut(pair, ":")
		x.Speed, isSpeed = speedOf(speed)
		if parted {
			x.Share, isShare = parseShare(part)
		}
		switch {
		case !given || !paired || x.from == "" || x.to == "":
			problem = "it is not FROM:TO=SPEED or FROM:TO=SPEED@SHARE"
		case !isSpeed:
			problem = fmt.Sprintf("%s is no speed: %s", capcli.Quoted(speed), speedForm)
		case !isShare:
			problem = fmt.Sprintf("%s is no share: %s", capcli.Quoted(part), shareForm)
		default:
			problem = m.addMove(x)
		}
		if problem != "" {
			return &capcli.RequestError{Text: fmt.Sprintf("--move %s: %s", capcli.Quoted(text), problem), Hint: "--move " + moveForm}
		}
	}
	return nil
}

// addMove adds a move. It returns what is wrong with it; "" is nothing.
func (m *Market) addMove(x MarketMove) string {
	names := capcli.Map(m.GPUs, func(g MarketGPU) string { return g.Model })
	x.From, x.To = slices.Index(names, x.from), slices.Index(names, x.to)
	switch {
	case x.From < 0:
		return fmt.Sprintf("the market has no model %s; it has %s", capcli.Quoted(x.from), strings.Join(names, ", "))
	case x.To < 0:
		return fmt.Sprintf("the market has no model %s; it has %s", capcli.Quoted(x.to), strings.Join(names, ", "))
	case x.Share == 0:
		return "a share of 0 moves nothing; " + shareForm
	case x.From == x.To:
		return "work moves from one model to another; both are " + capcli.Quoted(x.from)
	}
	all := x.Share
	for _, other := range m.Moves {
		if other.From == x.From && other.To == x.To {
			return fmt.Sprintf("the move from %s to %s is listed twice", x.from, x.to)
		}
		if other.From == x.From {
			all += other.Share
		}
	}
	if all > wholeShare {
		return fmt.Sprintf("the moves from %s take %.6g%% of its work; all together may take 100%%: give each a share", x.from, float64(all)/10_000)
	}
	m.Moves = append(m.Moves, x)
	return ""
}

const (
	speedForm = "a number from 0.01 to 100, with at most three decimals"
	shareForm = "a share over 0 and up to 100%, such as 30% or 0.3"
)

// speedOf returns a speed in thousandths. It reports false where the text is none.
func speedOf(text string) (int64, bool) {
	u, err := capcli.ParseUSD(text) // ParseUSD reads a decimal in millionths
	return int64(u / 1000), err == nil && u%1000 == 0 && u >= capcli.Dollar/mostSpeed && u <= mostSpeed*capcli.Dollar
}

// marketMoves reads the list of moves; Market.match adds them when all models are known.
func marketMoves(list *[]MarketMove) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadList(n, maxList, "moves", func(_ int, n *yaml.Node) {
			x := MarketMove{Share: wholeShare, node: n}
			o := d.ReadObject(n, "moves", []strict.Field{
				{"from", "the model whose work may move", strict.Name(&x.from)},
				{"to", "the model that may do it", strict.Name(&x.to)},
				{"speed", "hours of a GPU of from that are one hour of a GPU of to", strict.Value(&x.Speed, "a speed such as 2.0", speedForm, speedOf)},
				{"share", "most of the work that may move, in each step of the demand; default: 100%", share(&x.Share)},
			})
			o.Require("from", "to", "speed")
			*list = append(*list, x)
		})
	}
}
