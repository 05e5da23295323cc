package iam

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed common.txt
var commonText string

// commonWords are the words that the commonest passwords are made of.
var commonWords = sync.OnceValue(func() map[string]bool { return setOf(strings.FieldsSeq(commonText)) })

func setOf(items iter.Seq[string]) map[string]bool {
	set := make(map[string]bool)
	for item := range items {
		set[item] = true
	}
	return set
}

//go:embed commonest.txt.gz
var commonestZipped []byte

// commonest are the most common passwords of 8 characters or more, from lists of stolen
// ones.
var commonest = sync.OnceValue(func() map[string]bool {
	unzip, _ := gzip.NewReader(bytes.NewReader(commonestZipped)) // a test reads it
	text, _ := io.ReadAll(unzip)
	return setOf(strings.SplitSeq(string(text), "\n"))
})

// letterFor undoes what people write in place of letters.
var letterFor = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!",
	"i")

// minDigits is how many digits a password of digits needs: shorter ones are mostly dates
// and telephone numbers.
const minDigits = 12

// isCommon reports whether a password is among those that are guessed first: one of the
// commonest; a common word or the user's name (see isWord); a pattern that repeats; a row
// of neighbours in the alphabet or on a keyboard; or a short number.
func isCommon(password, username string) bool {
	plain := strings.ToLower(password)
	if username != "" && isWord(plain, map[string]bool{strings.ToLower(username): true}) {
		return true
	}
	return commonest()[plain] || isWord(plain, commonWords()) || repeats(plain) || isRow(plain) ||
		len(plain) < minDigits && strings.Trim(plain, "0123456789") == ""
}

// isWord reports whether a text is one of some words, once or twice, perhaps with
// other characters for letters, and with digits and signs around it.
func isWord(text string, words map[string]bool) bool {
	noLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	for _, given := range []string{text, strings.TrimRightFunc(text, noLetter), strings.TrimFunc(text, noLetter)} {
		for _, word := range []string{given, letterFor.Replace(given)} {
			half := word[:len(word)/2]
			if words[word] || half+half == word && words[half] {
				return true
			}
		}
	}
	return false
}

// repeats reports whether a text is a short pattern again and again.
func repeats(text string) bool {
	for size := 1; size <= 4 && size*2 <= len(text); size++ {
		if strings.HasPrefix(strings.Repeat(text[:size], len(text)/size+1), text) {
			return true
		}
	}
	return false
}

// rows are those of the alphabet and of keyboards, downwards and across.
const rows = "abcdefghijklmnopqrstuvwxyz 01234567890 qwertyuiop qwertzuiop azertyuiop asdfghjkl zxcvbnm yxcvbnm " +
	"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p 1q2w3e4r5t6y7u8i9o0p q1w2e3r4t5y6u7i8o9p0 qazwsxedcrfvtgbyhnujmikolp " +
	"zaq12wsxcde34rfv qweasdzxc"

// isRow reports whether a text is made of one or two rows of neighbours, forwards
// or backwards.
func isRow(text string) bool {
	for cut := range len(text) + 1 {
		if inRow(text[:cut]) && inRow(text[cut:]) && (cut == 0 || cut >= 3) &&
			(cut == len(text) || len(text)-cut >= 3) {
			return true
		}
	}
	return false
}

func inRow(text string) bool {
	if !strings.Contains(text, " ") && (strings.Contains(rows, text) || strings.Contains(reversed(rows), text)) {
		return true
	}
	return len(text) > 0 && strings.Trim(text, text[:1]) == ""
}

func reversed(text string) string {
	letters := []byte(text) // rows are ASCII
	slices.Reverse(letters)
	return string(letters)
}
