package paper

import (
	"fmt"

	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// Mean GPUs in use by hour of the day and day of the week.
func init() {
	register(Drawing{ID: "use-by-hour", Rank: 50, Needs: "a run with a timeline (capcli simulate --out)", Draw: func(m *material) ([]figure.Figure, string) { return m.eachTimeline(drawHeat) }})
}

var weekdays = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

func drawHeat(line *outcome.Timeline, _ *outcome.Outcome) (figure.Figure, bool) {
	f := figure.Figure{
		ID: "use-by-hour", Title: "GPUs in use by hour and weekday", Kind: figure.Heat,
		X: figure.Axis{Label: "Hour of the day (" + line.Zone + ")", Unit: figure.Name}, Y: figure.Axis{Label: "GPUs in use, mean", Unit: figure.Count},
	}
	for hour := range 24 {
		f.X.Names = append(f.X.Names, fmt.Sprintf("%02d", hour))
	}
	type cell struct{ day, hour int }
	var most, least cell
	high, low := unknown, unknown
	for day := range line.HourOfWeek {
		row := figure.Series{Name: weekdays[day]}
		for hour, v := range line.HourOfWeek[day] {
			y := number(v)
			row.Y = append(row.Y, y)
			if y.IsKnown() && (!high.IsKnown() || y > high) {
				high, most = y, cell{day, hour}
			}
			if y.IsKnown() && (!low.IsKnown() || y < low) {
				low, least = y, cell{day, hour}
			}
		}
		f.Series = append(f.Series, row)
	}
	if !high.IsKnown() {
		return f, false
	}
	f.Sentence = sentence(
		fmt.Sprintf("use is highest on %s at %02d:00 with %s GPUs", weekdays[most.day], most.hour, count(high)),
		fmt.Sprintf("and lowest on %s at %02d:00 with %s", weekdays[least.day], least.hour, count(low)),
	)
	return f, true
}
