package sender

import "regexp"

// wooPing is the body of the ping that a saved webhook sends.
var wooPing = regexp.MustCompile(`^webhook_id=\d{1,20}$`)

func greetWooCommerce(g greeting) *Answer {
	if !wooPing.Match(g.Body) {
		return nil
	}
	return emptyAnswer()
}
